"""Requests and replies: which messages are requests, and that data parts carry them unchanged."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from concord_purple.teams import (
    MAX_TEXT,
    PING,
    BadRequestError,
    RequestKind,
    TeamReply,
    TeamRequest,
    reply_in,
    reply_text,
    request_in,
    request_line,
    to_data,
)
from concord_purple.text_review.measure import Aspect, Findings
from concord_purple.text_review.review import add_draft, add_facts, add_verdict, evidence_from_text

TEXT = "Trips rose by 61 %. It may perhaps rain."


def _findings() -> Findings:
    return add_verdict(TEXT, add_draft(TEXT, add_facts(TEXT, Aspect, Findings(), "r"), "s"), "v")


def _travelled(data: JsonValue) -> JsonValue:
    """The data after a protobuf `Value`, in which every number is a float."""
    travelled: JsonValue = json.loads(json.dumps(data), parse_int=float)
    return travelled


@given(
    st.sampled_from([kind for kind in RequestKind if kind is not RequestKind.PING]),
    st.sets(st.sampled_from(Aspect), min_size=1).map(tuple),
)
def test_a_request_survives_its_data_part(kind: RequestKind, aspects: tuple[Aspect, ...]) -> None:
    request = TeamRequest(kind, TEXT, aspects, _findings(), "Be brief:")
    assert request_in("whatever", (_travelled(to_data(request)),)) == request


def test_a_reply_survives_its_data_part() -> None:
    reply = TeamReply(RequestKind.REVIEW, _findings())
    assert reply_in(RequestKind.REVIEW, (_travelled(to_data(reply)),)) == reply


def test_the_findings_on_any_text_fit_a_message() -> None:
    sentence = f"Obviously the {' '.join(f'word{n}' for n in range(30))} may perhaps cost {'9' * 40} and {'8' * 40} %. "
    text = (sentence * (MAX_TEXT // len(sentence)))[:MAX_TEXT]
    drafted = add_draft(text, add_facts(text, Aspect, Findings(), "r"), "s")
    wronged = Findings(
        facts=tuple(replace(fact, value=0.0, claim=fact.claim * 10) for fact in drafted.facts),
        statements=drafted.statements,
    )
    found = add_verdict(text, wronged, "v") | Findings(checks=evidence_from_text(text, wronged, "r"))
    assert len(found.refuted) > len(drafted.facts)
    assert reply_in(RequestKind.RELAY, (to_data(TeamReply(RequestKind.RELAY, found)),)).findings == found


def test_plain_text_is_a_task() -> None:
    assert request_in(f" {TEXT}\n", ()) == TeamRequest(RequestKind.TASK, TEXT)


def test_a_first_paragraph_that_ends_with_a_colon_is_the_instruction() -> None:
    assert request_in(f"Review this:\n\n{TEXT}", ()) == TeamRequest(RequestKind.TASK, TEXT, instruction="Review this:")
    assert request_in("Only this:\n\n", ()) == TeamRequest(RequestKind.TASK, "Only this:")


@pytest.mark.parametrize(
    ("message", "instruction", "text"),
    [
        (
            f"Review this. Keep to these rules:\n\n- Be brief.\n\n- Be kind.\n\nText:\n\n{TEXT}",
            "Review this. Keep to these rules:\n\n- Be brief.\n\n- Be kind.",
            TEXT,
        ),
        (f"Review this:\nText: \n{TEXT}", "Review this:", TEXT),
        (f"Review this:\n\nText:\n\n{TEXT}\n\nText:\n\n{TEXT}", "Review this:", f"{TEXT}\n\nText:\n\n{TEXT}"),
        (f"Review this:\n\nText: {TEXT}", "Review this:", f"Text: {TEXT}"),
        (f"Text:\n\n{TEXT}", "Text:", TEXT),
        (f"{TEXT}\n\nText:", "", f"{TEXT}\n\nText:"),
    ],
)
def test_the_first_line_with_only_the_word_text_separates_instruction_and_text(
    message: str, instruction: str, text: str
) -> None:
    assert request_in(message, ()) == TeamRequest(RequestKind.TASK, text, instruction=instruction)


def test_a_ping_and_its_reply_are_plain_text() -> None:
    ping = request_in(f" {PING}\n", ())
    assert ping == TeamRequest(RequestKind.PING, "Are you there?")
    assert (request_line(ping), to_data(ping)) == (PING, None)
    reply = TeamReply(RequestKind.PING, Findings())
    assert (reply_text(RequestKind.PING, reply.findings), to_data(reply)) == ("Yes.", None)
    assert reply_in(RequestKind.PING, ()) == reply_in(RequestKind.PING, ({"color": "red"},)) == reply


def test_data_without_a_kind_leaves_the_text_as_the_task() -> None:
    assert request_in(TEXT, ({"color": "red"}, 4.0)) == TeamRequest(RequestKind.TASK, TEXT)


@pytest.mark.parametrize(
    ("text", "data", "reason"),
    [
        ("", (), "text: String should have at least 1 character"),
        ("?!", (), "contains no text to review"),
        ("x" * (MAX_TEXT + 1), (), "text: String should have at most 100000 characters"),
        ("", ({"kind": "dance", "text": TEXT},), "kind: Input should be"),
        ("", ({"kind": "research"},), "text: Field required"),
        ("", ({"kind": "research", "text": TEXT, "aspects": []},), "aspects: Tuple should have at least 1 item"),
        ("", ({"kind": "review", "text": TEXT, "findings": {"facts": [{}] * 401}},), "findings.facts"),
    ],
)
def test_an_invalid_request_is_refused_with_the_reason(text: str, data: tuple[JsonValue, ...], reason: str) -> None:
    with pytest.raises(BadRequestError, match=reason):
        request_in(text, data)


@pytest.mark.parametrize("data", [(), ("thanks",), ({"kind": "review"},)])
def test_an_answer_without_findings_is_no_reply(data: tuple[JsonValue, ...]) -> None:
    with pytest.raises(BadRequestError, match="the reply cannot be read"):
        reply_in(RequestKind.REVIEW, data)
