"""Redaction: stored data contains no token and no key, in any form and from any source."""

import base64
import json
import logging
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from concord.a2a import IncomingMessage, TaskHandle
from concord.service.logs import configure_logging
from concord.storage.connection import connect
from concord.trust import redaction
from concord.trust.redaction import MAX_TOKENS, MIN_PART, Secrets
from concord.trust.tokens import Claims, TokenIssuer
from concord.wire.roster import RosterEntry
from tests.kit.collectors import SECRET, batch, collector, step
from tests.kit.hostile import TokenLeaker
from tests.kit.leaks import PART, forms, left_of
from tests.kit.llm_server import FakeModel, fake_model, honest_judge
from tests.kit.serving import served_agent
from tests.kit.stack import everything_in, stack

KEY = "sk-a-key/of+the~model-that-is-Long-enough-0123456789"


def token_of(name: str, secret: str = SECRET) -> str:
    claims = Claims("a1", "t1", name, 4_000_000_000.0)
    return TokenIssuer([SecretStr(secret)]).issue(claims).get_secret_value()


FORMS = sorted(forms("a.b.c" * 9))
LONG = b"{} " * 1000
"""Text from whose length on NumPy looks for blocks."""


def known(*tokens: str, numpy: bool = False) -> Secrets:
    secrets = Secrets()
    if numpy:
        secrets.blocks.scan_with_numpy()
    for token in tokens:
        secrets.learn_token(token)
    return secrets


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]) -> Iterator[pytest.CaptureFixture[str]]:
    """Everything that the services log."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    configure_logging("test", level="DEBUG", form="json")
    (handler,) = root.handlers
    root.handlers[:0] = handlers
    yield capsys
    root.removeHandler(handler)
    root.setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def files_below(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("fails", [False, True])
async def test_a_token_that_an_agent_discloses_is_in_no_row_log_file_or_redis_value(
    fails: bool, redis_url: str, tmp_path: Path, logged: pytest.CaptureFixture[str]
) -> None:
    leaker = TokenLeaker(fails=fails)
    async with stack(redis_url, tmp_path) as services, served_agent(leaker) as first, served_agent(leaker) as other:
        leaker.collector, leaker.gateway = services.collector, services.gateway
        answer = await services.assess({"leaker": first, "other": other}, start="leaker")
        row = json.dumps(answer.data_parts[0])
        stored = everything_in(redis_url)
        written = files_below(tmp_path)
        log = logged.readouterr().err
        assert len(set(leaker.tokens)) == 2
        assert all(form.encode() in stored for form in FORMS)
        assert b"results" in written or b"pass_rate" in written
        for token in leaker.tokens:
            for place, text in (("row", row.encode()), ("Redis", stored), ("files", written), ("log", log.encode())):
                assert left_of(token, text) == set(), place
                assert token.encode() not in text


async def test_a_collector_redacts_the_tokens_of_the_whole_team(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The collector issued neither token and never accepted the reader's."""
    theirs, headers = token_of("reader"), {"authorization": f"Bearer {token_of('writer')}"}
    monkeypatch.setattr(redaction, "_LIVE", Secrets())
    async with connect(redis_url) as storage:
        roster = [RosterEntry(id=name, url=f"http://{name}:1/") for name in ("writer", "reader")]
        await storage.registry.register("a1", roster)
    async with collector(redis_url, open=False, token_secret=SECRET) as http:
        for form, text in forms(theirs).items():
            body = batch(step(name=text, additional_attributes={"note": f"see {text}."}), batch_id=form)
            assert (await http.post("/traces", json=body, headers=headers)).status_code == 202
    stored = everything_in(redis_url)
    assert stored.count(b"see ") == len(FORMS)
    assert left_of(theirs, stored) == set()


async def test_a_key_that_the_model_discloses_is_in_no_row_log_file_or_redis_value(
    redis_url: str, tmp_path: Path, logged: pytest.CaptureFixture[str]
) -> None:
    disclosed = [*forms(KEY).values()]
    text = " ".join(disclosed)

    def say(asked: dict[str, Any]) -> str:
        answer = json.loads(honest_judge()(asked))
        return json.dumps(answer | {"reasoning": f"The key is {text}.", "strengths": disclosed, "weaknesses": [text]})

    async def answers(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete("something")

    task = {"id": "t", "text": "Say something."}
    async with (
        fake_model(FakeModel(say)) as settings,
        stack(redis_url, tmp_path, settings.model_copy(update={"api_key": SecretStr(KEY)})) as services,
        served_agent(answers) as url,
    ):
        row = await services.row({"a": url}, tasks=[task])
        assert row["detail"]["trials"][0]["judge"]["source"] == "llm"
        written = files_below(tmp_path)
        log = logged.readouterr().err
        for stored in (json.dumps(row).encode(), everything_in(redis_url), written, log.encode()):
            assert left_of(KEY, stored) == set()


@given(st.text(max_size=200), st.text(max_size=200), st.integers(0, 27), st.integers(1, 43), st.booleans())
def test_every_long_enough_part_of_a_token_is_redacted_and_nothing_else(
    before: str, after: str, start: int, length: int, numpy: bool
) -> None:
    token = token_of("a")
    secrets = known(token, numpy=numpy)
    part = token.rpartition(".")[2][start : start + length]
    around = (
        f"{before} ".encode("utf-8", "surrogatepass"),
        LONG * numpy + f" {after}".encode("utf-8", "surrogatepass"),
    )
    expected = b"-" if len(part) >= MIN_PART else part.encode()
    assert secrets.redact(part.encode().join(around)) == expected.join(around)


@given(st.binary(max_size=400))
def test_a_text_without_a_secret_is_unchanged(text: bytes) -> None:
    secrets = Secrets()
    secrets.learn_token(token_of("a"))
    secrets.learn(KEY)
    assert secrets.redact(text) == text


@given(st.binary(max_size=60), st.binary(max_size=60), st.sampled_from(FORMS))
def test_a_secret_is_redacted_in_the_base64_of_any_text(before: bytes, after: bytes, form: str) -> None:
    secrets = Secrets()
    token = token_of("a")
    secrets.learn_token(token)
    written = before + forms(token)["as it is"].encode() + after
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        assert left_of(token, secrets.redact(encode(written))) == set(), form


@pytest.mark.parametrize("numpy", [False, True])
def test_parts_of_the_latest_tokens_and_every_whole_token_are_redacted(numpy: bool) -> None:
    tokens = [token_of(f"agent-{n}") for n in range(MAX_TOKENS + 1)]
    secrets = known(*tokens, numpy=numpy)
    first, *_, last = ([token.encode(), token.rpartition(".")[2].encode()] for token in tokens)
    assert [secrets.redact(each + LONG) for each in last] == [b"-" + LONG, b"-" + LONG]
    assert [secrets.redact(each + LONG) for each in first] == [b"-" + LONG, first[1] + LONG]


@pytest.mark.parametrize("numpy", [False, True])
@pytest.mark.parametrize("form", ["as it is", "in base64"])
def test_an_unknown_token_is_redacted_by_its_beginning_at_every_offset(form: str, numpy: bool) -> None:
    secrets, token = known(numpy=numpy), token_of("stranger").encode()
    for at in range(64):
        before = b"." * at
        if form == "as it is":
            assert secrets.redact(before + token + b" " + LONG) == before + b"- " + LONG
        else:
            assert base64.b64encode(token)[:40] not in secrets.redact(base64.b64encode(before + token) + b" " + LONG)


def test_several_parts_in_a_text_are_redacted_each_and_what_lies_between_stays() -> None:
    secret = token_of("a").rpartition(".")[2]
    parts = [secret[:MIN_PART], secret[3:30], secret[: MIN_PART - 1], secret, secret[-MIN_PART:]]
    text = "".join(f"{part}!{number} " for number, part in enumerate(parts))
    assert known(token_of("a")).redact(text.encode()) == f"-!0 -!1 {secret[:15]}!2 -!3 -!4 ".encode()


def test_tokens_that_come_and_go_leave_the_later_ones_recognised() -> None:
    later = token_of("later").rpartition(".")[2].encode()
    secrets = known(*(f"concord_eyJ..{n:020x}" for n in range(2 * MAX_TOKENS)), token_of("later"), numpy=True)
    assert secrets.redact(LONG + later) == LONG + b"-"


def test_a_short_key_is_redacted_whole_and_a_word_is_not_a_key() -> None:
    secrets = Secrets()
    secrets.learn("hunter2-hunter2")
    secrets.learn("ollama")
    assert secrets.redact(b"hunter2-hunter2, ollama, hunter2") == b"-, ollama, hunter2"


@pytest.mark.parametrize("numpy", [False, True])
def test_a_part_of_a_token_is_redacted_at_every_offset(numpy: bool) -> None:
    """The part is tried at every offset, since redaction looks only at every ninth position first."""
    token = token_of("a")
    part = token.rpartition(".")[2][5 : 5 + PART].encode()
    secrets = known(token, numpy=numpy)
    random_bytes = random.Random(4711)  # noqa: S311 - reproducible
    for at in range(64):
        text = LONG * numpy + random_bytes.randbytes(at) + b" " + part + b" " + random_bytes.randbytes(64 - at)
        assert part not in secrets.redact(text)
