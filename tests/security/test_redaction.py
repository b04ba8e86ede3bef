"""Stored data contains no token and no key, in any form and from any author."""

import base64
import json
import logging
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from concord.a2a import IncomingMessage, TaskHandle
from concord.assessment.roster import RosterEntry
from concord.service import configure_logging
from concord.storage.redis import connect
from concord.trust.redaction import MAX_TOKENS, MIN_PART, Secrets
from concord.trust.tokens import Claims, TokenIssuer
from tests.integration.collectors import SECRET, CollectorProcess, batch, step
from tests.llm_server import FakeModel, fake_model, honest_judge
from tests.security.hostile import Teller
from tests.security.leaks import PART, forms, left_of
from tests.security.stack import everything_in, stack
from tests.serving import served_agent

KEY = "sk-a-key/of+the~model-that-is-Long-enough-0123456789"


def token_of(name: str, secret: str = SECRET) -> str:
    claims = Claims("a1", "t1", name, 4_000_000_000.0)
    return TokenIssuer([SecretStr(secret)]).issue(claims).get_secret_value()


FORMS = sorted(forms("a.b.c" * 9))


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]) -> Iterator[pytest.CaptureFixture[str]]:
    """What the services log, all of it."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    configure_logging("test", level="DEBUG", form="json")
    (ours,) = root.handlers
    root.handlers[:0] = handlers
    yield capsys
    root.removeHandler(ours)
    root.setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def files_below(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("fails", [False, True])
async def test_an_agent_that_tells_its_token_leaves_it_nowhere(
    fails: bool, redis_url: str, tmp_path: Path, logged: pytest.CaptureFixture[str]
) -> None:
    teller = Teller(fails=fails)
    async with stack(redis_url, tmp_path) as house, served_agent(teller) as first, served_agent(teller) as other:
        teller.collector, teller.gateway = house.collector, house.gateway
        answer = await house.assess({"teller": first, "other": other}, start="teller")
        row = json.dumps(answer.data_parts[0])
        kept = everything_in(redis_url)
        written = files_below(tmp_path)
        log = logged.readouterr().err
        assert len(set(teller.tokens)) == 2
        assert all(form.encode() in kept for form in FORMS)
        assert b"results" in written or b"pass_rate" in written
        for token in teller.tokens:
            for place, text in (("row", row.encode()), ("Redis", kept), ("files", written), ("log", log.encode())):
                assert left_of(token, text) == set(), place
                assert token.encode() not in text


async def test_a_collector_takes_the_tokens_of_a_whole_team_out_of_what_one_of_it_reports(redis_url: str) -> None:
    """In a process of its own, which issued none of them, and never met the other."""
    theirs = token_of("reader")
    process = CollectorProcess(redis_url, CONCORD_TOKEN_SECRET=SECRET)
    async with connect(redis_url) as storage:
        roster = [RosterEntry(id=name, url=f"http://{name}:1/") for name in ("writer", "reader")]
        await storage.registry.register("a1", roster)
    process.start()
    try:
        async with httpx.AsyncClient(headers={"authorization": f"Bearer {token_of('writer')}"}, timeout=60) as http:
            for form, said in forms(theirs).items():
                body = batch(step(name=said, additional_attributes={"note": f"see {said}."}), batch_id=form)
                assert (await http.post(f"{process.url}/traces", json=body)).status_code == 202
    finally:
        process.stop()
    kept = everything_in(redis_url)
    assert kept.count(b"see ") == len(FORMS)
    assert left_of(theirs, kept) == set()


async def test_a_model_that_tells_its_key_leaves_it_nowhere(
    redis_url: str, tmp_path: Path, logged: pytest.CaptureFixture[str]
) -> None:
    said = " ".join(forms(KEY).values())

    def say(asked: dict[str, Any]) -> str:
        answer = json.loads(honest_judge()(asked))
        return json.dumps(
            answer | {"reasoning": f"The key is {said}.", "strengths": [*forms(KEY).values()], "weaknesses": [said]}
        )

    async def answers(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete("something")

    task = {"id": "t", "text": "Say something."}
    async with (
        fake_model(FakeModel(say)) as settings,
        stack(redis_url, tmp_path, settings.model_copy(update={"api_key": SecretStr(KEY)})) as house,
        served_agent(answers) as url,
    ):
        row = await house.row({"a": url}, tasks=[task])
        assert row["detail"]["trials"][0]["judge"]["source"] == "llm"
        written = files_below(tmp_path)
        log = logged.readouterr().err
        for text in (json.dumps(row).encode(), everything_in(redis_url), written, log.encode()):
            assert left_of(KEY, text) == set()


@given(st.text(max_size=200), st.text(max_size=200), st.integers(0, 27), st.integers(1, 43))
def test_every_part_that_is_long_enough_goes_and_all_else_stays(
    before: str, after: str, start: int, length: int
) -> None:
    token = token_of("a")
    secrets = Secrets()
    secrets.learn_token(token)
    part = token.rpartition(".")[2][start : start + length]
    around = (f"{before} ".encode("utf-8", "surrogatepass"), f" {after}".encode("utf-8", "surrogatepass"))
    expected = b"-" if len(part) >= MIN_PART else part.encode()
    assert secrets.redact(part.encode().join(around)) == expected.join(around)


@given(st.binary(max_size=400))
def test_what_holds_no_secret_is_kept_as_it_is(text: bytes) -> None:
    secrets = Secrets()
    secrets.learn_token(token_of("a"))
    secrets.learn(KEY)
    assert secrets.redact(text) == text


@given(st.binary(max_size=60), st.binary(max_size=60), st.sampled_from(FORMS))
def test_base64_of_any_text_with_a_secret_in_it_tells_nothing_of_it(before: bytes, after: bytes, form: str) -> None:
    secrets = Secrets()
    token = token_of("a")
    secrets.learn_token(token)
    written = before + forms(token)["as it is"].encode() + after
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        assert left_of(token, secrets.redact(encode(written))) == set(), form


def test_the_latest_tokens_are_known_by_their_parts_and_every_one_by_its_form() -> None:
    secrets = Secrets()
    tokens = [token_of(f"agent-{n}") for n in range(MAX_TOKENS + 1)]
    for token in tokens:
        secrets.learn_token(token)
    first, *_, last = ([token, token.rpartition(".")[2]] for token in tokens)
    assert [secrets.redact(each.encode()) for each in last] == [b"-", b"-"]
    assert [secrets.redact(each.encode()) for each in first] == [b"-", first[1].encode()]


def test_a_short_key_is_known_whole_and_a_word_is_none() -> None:
    secrets = Secrets()
    secrets.learn("hunter2-hunter2")
    secrets.learn("ollama")
    assert secrets.redact(b"hunter2-hunter2, ollama, hunter2") == b"-, ollama, hunter2"


def test_noise_beside_a_secret_does_not_hide_it() -> None:
    """At every place of a text, also where none of the places that are looked at first begins."""
    token = token_of("a")
    part = token.rpartition(".")[2][5 : 5 + PART].encode()
    secrets = Secrets()
    secrets.learn_token(token)
    noise = random.Random(4711)  # noqa: S311 - noise is all that is wanted
    for at in range(64):
        text = noise.randbytes(at) + b" " + part + b" " + noise.randbytes(64 - at)
        assert part not in secrets.redact(text)
