"""A participant that discloses its token, in every form, to every other party."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from lab.attacks.attack import NotTriedError, expect
from lab.attacks.client import Assessment, client_of
from lab.attacks.target import Target
from tests.kit.hostile import TokenLeaker
from tests.kit.leaks import forms, left_of
from tests.kit.serving import served_agent


async def in_row(target: Target) -> str:
    """Discloses its token in reports, spans, calls, answers and errors, and searches the row for it."""
    async with _leaked(target) as (leaker, assessments):
        rows = json.dumps([[each.row, each.text] for each in assessments]).encode()
        _expect_gone(leaker, "the row", rows)
    return f"in {len(forms(leaker.tokens[0]))} forms, none of which is in {len(rows) // 1000} kB of rows"


async def in_storage(target: Target) -> str:
    """Discloses its token in the same ways, and searches Redis, files and logs for it."""
    if target.inside is None:
        raise NotTriedError("it takes access to the stack's Redis, files and logs")
    async with _leaked(target) as (leaker, _):
        stored = {"Redis": target.inside.redis(), "files and logs": target.inside.files()}
        for place, text in stored.items():
            _expect_gone(leaker, place, text)
    expect(b"in base64" in stored["Redis"], "what was reported is not in Redis at all")
    return ", ".join(f"nothing in {len(text) // 1000} kB of {place}" for place, text in stored.items())


@asynccontextmanager
async def _leaked(target: Target) -> AsyncIterator[tuple[TokenLeaker, list[Assessment]]]:
    """Runs two assessments with a token leaker, which answers in one and fails in the other."""
    tokens: list[str] = []
    async with client_of(target) as client:
        assessments = []
        for fails in (False, True):
            leaker = TokenLeaker(fails=fails)
            leaker.collector, leaker.gateway = target.collector, target.gateway
            async with served_agent(leaker, host=target.host) as url, served_agent(leaker, host=target.host) as other:
                assessments.append(await client.assess({"leaker": url, "other": other}, start="leaker"))
            tokens += leaker.tokens
        leaker.tokens = sorted(set(tokens))
        expect(len(leaker.tokens) == 4, f"{len(leaker.tokens)} tokens were disclosed, and not four")
        yield leaker, assessments


def _expect_gone(leaker: TokenLeaker, place: str, text: bytes) -> None:
    for token in leaker.tokens:
        left = left_of(token, text)
        expect(not left, f"{len(left)} parts of a token are in {place}")
        expect(token.encode() not in text, f"a token is in {place}")
