"""Tokens: each identifies one agent in one trial until it expires, and only a holder of the secret can issue it."""

import time

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from concord.trust.redaction import REDACTED, TOKEN_PREFIX, redact
from concord.trust.tokens import (
    LEEWAY_S,
    Claims,
    TokenExpiredError,
    TokenIssuer,
    TokenKeys,
    TokenRejectedError,
    TokenVerifier,
    parse_secrets,
)

OLD, NEW, FOREIGN = (SecretStr(letter * 32) for letter in "one")

EXPIRY = 5_000.0
"""Long ago by the clock of every machine."""

ids = st.text(min_size=1, max_size=64)


async def no_shared_secret() -> str:
    raise AssertionError("the secret is configured")


def issue(secret: SecretStr = NEW, *, agent_id: str = "writer") -> str:
    return TokenIssuer([secret]).issue(Claims("a1", "t1", agent_id, time.time() + 60)).get_secret_value()


TOKEN = issue()


@given(ids, ids, ids)
def test_claims_survive_issue_and_verification(assessment_id: str, trace_id: str, agent_id: str) -> None:
    claims = Claims(assessment_id, trace_id, agent_id, float(int(time.time() + 60)))
    assert TokenVerifier([NEW]).read(TokenIssuer([NEW]).issue(claims).get_secret_value()) == claims


@pytest.mark.parametrize(("late_s", "accepted"), [(-1, True), (LEEWAY_S - 1, True), (LEEWAY_S, False)])
async def test_a_token_is_accepted_until_its_expiry_and_the_leeway_by_the_common_time(
    late_s: float, accepted: bool
) -> None:
    async def now() -> float:
        return EXPIRY + late_s

    token = TokenIssuer([NEW]).issue(Claims("a1", "t1", "writer", EXPIRY)).get_secret_value()
    verifying = TokenKeys(NEW, no_shared_secret, now).verify(token)
    if accepted:
        assert (await verifying).agent_id == "writer"
    else:
        with pytest.raises(TokenExpiredError):
            await verifying


def test_a_token_of_another_secret_is_rejected() -> None:
    with pytest.raises(TokenRejectedError):
        TokenVerifier([NEW]).read(issue(FOREIGN))


@given(st.data())
def test_a_token_with_any_character_changed_is_rejected(data: st.DataObject) -> None:
    # The last character of a part may hold bits that are ignored.
    places = [place for place in range(len(TOKEN) - 1) if TOKEN[place] != "." and TOKEN[place + 1] != "."]
    place = data.draw(st.sampled_from(places))
    other = data.draw(st.sampled_from([letter for letter in "ABCxyz019-_" if letter != TOKEN[place]]))
    with pytest.raises(TokenRejectedError):
        TokenVerifier([NEW]).read(TOKEN[:place] + other + TOKEN[place + 1 :])


@given(st.text() | st.text(alphabet="eyJ.-_A0=", max_size=200).map(TOKEN_PREFIX.__add__))
def test_text_that_is_no_token_is_rejected(text: str) -> None:
    with pytest.raises(TokenRejectedError):
        TokenVerifier([NEW]).read(text)


@pytest.mark.parametrize("algorithm", ["none", "HS384"])
def test_a_token_cannot_choose_another_algorithm(algorithm: str) -> None:
    header = jwt.get_unverified_header(issue().removeprefix(TOKEN_PREFIX))
    claims = {"aid": "a1", "tid": "t1", "sub": "writer", "exp": time.time() + 60}
    key = "" if algorithm == "none" else NEW.get_secret_value() * 2
    forged = jwt.encode(claims, key, algorithm, headers={"kid": header["kid"]})
    with pytest.raises(TokenRejectedError):
        TokenVerifier([NEW]).read(TOKEN_PREFIX + forged)


def test_a_secret_can_be_rotated_while_old_tokens_are_in_use() -> None:
    rotated = [NEW, OLD]
    assert TokenVerifier(rotated).read(issue(OLD)).agent_id == "writer"
    fresh = TokenIssuer(rotated).issue(Claims("a1", "t1", "reader", time.time() + 60)).get_secret_value()
    assert TokenVerifier([NEW]).read(fresh).agent_id == "reader"
    with pytest.raises(TokenRejectedError):
        TokenVerifier([OLD]).read(fresh)


def test_secrets_are_read_from_a_comma_separated_setting_and_short_ones_refused() -> None:
    assert parse_secrets(f" {NEW.get_secret_value()} ,{OLD.get_secret_value()},") == [NEW, OLD]
    assert parse_secrets("") == []
    with pytest.raises(ValueError, match="at least 32") as refusal:
        parse_secrets("hunter2")
    assert "hunter2" not in str(refusal.value)


@given(st.text(), st.text())
def test_redaction_removes_tokens_and_nothing_else(before: str, after: str) -> None:
    text = f"{before} /a2a/{TOKEN}/reader/ {after}"
    assert redact(text) == f"{before} /a2a/{REDACTED}/reader/ {after}"
    assert redact(text.encode()) == redact(text).encode()


def test_a_truncated_token_is_removed_too() -> None:
    for length in range(len(TOKEN_PREFIX) + 3, len(TOKEN)):
        assert TOKEN[:length] not in redact(f"…/a2a/{TOKEN[:length]}")
