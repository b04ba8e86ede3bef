"""The rule-based character: facts, rules, a stated calendar, and sentences of the instructions."""

from typing import Any

import pytest
from pydantic import ValidationError

from concord_assistant.characters.brief import brief_of
from concord_assistant.characters.incoming import Incoming, incoming_of
from concord_assistant.characters.models import NewMessages
from concord_assistant.characters.rule_based import Answer, answer_by_rules
from concord_assistant.scenario.schema import CharacterProfile
from tests.kit.characters import NOW, email, emails, events, invitation, profile, scenario

BUDGET = {"say": "The budget is 4,200 EUR.", "about": ["budget", "how much"]}


def ben(replies: dict[str, Any] | None = None, **changes: object) -> CharacterProfile:
    config = {} if replies is None else {"config": {"replies": replies}}
    return CharacterProfile.model_validate(profile("Ben Ito", **config, **changes))


def received(new: NewMessages) -> Incoming:
    (incoming,) = incoming_of(new, scenario(ben=profile("Ben Ito")), NOW)
    return incoming


def reply(character: CharacterProfile, text: str, subject: str = "Dinner") -> str:
    return answer_by_rules(received(emails(email(body_text=text, subject=subject))), brief_of(character)).text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("What is the budget?", "The budget is 4,200 EUR."),
        ("HOW  much can we spend?", "The budget is 4,200 EUR."),
        ("The budgetary process bores me.", ""),
        ("Fine.\n\nOn Mon, 16 Mar 2026, Ben wrote:\n> What about the budget?", ""),
        ("> the budget\nFine.", ""),
        ("Fine.\n-----Original Message-----\nWhat about the budget?", ""),
        ("Budget, and where?", "The budget is 4,200 EUR. At Nona's."),
    ],
)
def test_facts_answer_messages_with_their_words(text: str, said: str) -> None:
    facts = {"budget": BUDGET, "place": {"say": "At Nona's.", "about": ["where"]}}
    assert reply(ben({"facts": facts}), text) == said


def test_the_subject_of_a_new_email_counts_and_that_of_a_reply_does_not() -> None:
    character = ben({"facts": {"budget": BUDGET}})
    assert reply(character, "See above.", subject="Budget?") == "The budget is 4,200 EUR."
    assert reply(character, "See above.", subject="Re: Budget?") == ""


def test_a_fact_that_is_a_text_is_about_its_name() -> None:
    assert reply(ben({"facts": {"dinner_place": "Trattoria Nona."}}), "Dinner place?") == "Trattoria Nona."


def test_the_first_rule_that_fits_decides() -> None:
    rules = [
        {"about": ["newsletter"]},
        {"about": ["urgent"], "unless": ["not urgent"], "say": "On it."},
        {"say": "Text me.", "channels": ["email"]},
    ]
    character = ben({"rules": rules, "facts": {"budget": BUDGET}, "otherwise": "OK."})
    assert reply(character, "Our newsletter is urgent") == ""
    assert reply(character, "Urgent: the budget") == "On it."
    assert reply(character, "It is not urgent") == "Text me."


def test_otherwise_answers_the_rest() -> None:
    assert reply(ben({"otherwise": "OK."}), "Hello") == "OK."
    assert reply(ben(), "Hello") == ""


def responds(calendar: dict[str, Any], start: str, end: str) -> Answer:
    event = received(events(invitation(start=start, end=end)))
    return answer_by_rules(event, brief_of(ben({"calendar": calendar})))


@pytest.mark.parametrize(
    ("start", "end", "response"),
    [
        ("2026-03-17T09:00:00+01:00", "2026-03-17T10:00:00+01:00", "accepted"),
        ("2026-03-17T08:30:00+01:00", "2026-03-17T09:30:00+01:00", "declined"),
        ("2026-03-17T16:30:00+01:00", "2026-03-17T17:30:00+01:00", "declined"),
        ("2026-03-21T10:00:00+01:00", "2026-03-21T11:00:00+01:00", "declined"),
        ("2026-03-18T13:59:00+01:00", "2026-03-18T14:30:00+01:00", "declined"),
        ("2026-03-18T15:00:00+01:00", "2026-03-18T15:30:00+01:00", "accepted"),
        ("2026-03-19T12:30:00+01:00", "2026-03-19T12:45:00+01:00", "declined"),
        # The clocks have changed: 09:00 in Berlin is 07:00 UTC.
        ("2026-03-30T07:00:00Z", "2026-03-30T08:00:00Z", "accepted"),
        ("2026-03-30T06:59:00Z", "2026-03-30T07:30:00Z", "declined"),
    ],
)
def test_the_stated_calendar_decides_on_invitations(start: str, end: str, response: str) -> None:
    calendar = {
        "timezone": "Europe/Berlin",
        "free": [{"from": "09:00", "until": "17:00"}],
        "busy": [
            {"start": "2026-03-18T14:00:00+01:00", "end": "2026-03-18T15:00:00+01:00"},
            {"days": ["thursday"], "from": "12:00", "until": "13:00"},
        ],
        "comment_if_busy": "I am busy then.",
    }
    comment = "I am busy then." if response == "declined" else ""
    assert responds(calendar, start, end) == Answer(comment, response)  # type: ignore[arg-type]  # a parameter


def test_an_invitation_without_a_stated_calendar_gets_no_response() -> None:
    assert not answer_by_rules(received(events(invitation())), brief_of(ben())).given


@pytest.mark.parametrize(
    "sentence",
    [
        'If asked about the budget, say "It is 4,200 EUR."',
        "When someone asks about the cost or the budget, reply with: “It is 4,200 EUR.”",
        'Ben is calm. When you are asked about prices, costs, or budget, then answer: "It is 4,200 EUR."',
    ],
)
def test_sentences_of_the_instructions_are_rules(sentence: str) -> None:
    character = ben(special_instructions=sentence)
    assert reply(character, "What is the budget?") == "It is 4,200 EUR."
    assert reply(character, "What is the plan?") == ""


def test_instructions_may_silence_a_character_and_decide_on_invitations() -> None:
    assert not brief_of(ben(special_instructions="He never replies.")).enabled
    assert not brief_of(ben(special_instructions="Ben is busy. Do not respond to any emails.")).enabled
    assert brief_of(ben(special_instructions="Never answers questions about money.")).enabled
    assert brief_of(ben(special_instructions="He never replies to anyone but Mara.")).enabled
    assert brief_of(ben(special_instructions="If he is upset, he never replies.")).enabled
    assert brief_of(ben(special_instructions="Declines all invitations before ten.")).calendar is None
    accepts = brief_of(ben(special_instructions="Accepts all invitations."))
    declines = brief_of(ben(special_instructions="She declines any meeting invitation."))
    event = received(events(invitation()))
    assert answer_by_rules(event, accepts).response == "accepted"
    assert answer_by_rules(event, declines).response == "declined"


@pytest.mark.parametrize(
    "replies",
    [
        {"fact": {}},
        {"rules": [{"say": ""}]},
        {"calendar": {"timezone": "Mars/Olympus"}},
        {"facts": {"x": {"say": "y"}}},
    ],
)
def test_an_invalid_brief_is_refused(replies: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        brief_of(ben(replies))
