"""A participant that tells its token, in every form, to everybody who listens."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from attacks.attack import NotTriedError, expect
from attacks.client import Assessed, client_of
from attacks.target import Target
from tests.security.hostile import Teller
from tests.security.leaks import forms, left_of
from tests.serving import served_agent


async def in_row(target: Target) -> str:
    """Tells its token in reports, spans, calls, answers and errors, and looks for it in the row."""
    async with _told(target) as (teller, told):
        rows = json.dumps([[each.row, each.text] for each in told]).encode()
        _expect_gone(teller, "the row", rows)
    return f"in {len(forms(teller.tokens[0]))} forms, none of which is in {len(rows) // 1000} kB of rows"


async def in_what_is_kept(target: Target) -> str:
    """Does the same, and looks for its token in Redis, in files and in logs."""
    if target.inside is None:
        raise NotTriedError("it takes a look at the stack's Redis, files and logs")
    async with _told(target) as (teller, _):
        kept = {"Redis": target.inside.redis(), "files and logs": target.inside.files()}
        for place, text in kept.items():
            _expect_gone(teller, place, text)
    expect(b"in base64" in kept["Redis"], "what was reported is not in Redis at all")
    return ", ".join(f"nothing in {len(text) // 1000} kB of {place}" for place, text in kept.items())


@asynccontextmanager
async def _told(target: Target) -> AsyncIterator[tuple[Teller, list[Assessed]]]:
    """Two assessments, in one of which the teller answers, and in one fails."""
    tokens: list[str] = []
    async with client_of(target) as client:
        told = []
        for fails in (False, True):
            teller = Teller(fails=fails)
            teller.collector, teller.gateway = target.collector, target.gateway
            async with served_agent(teller, host=target.host) as url, served_agent(teller, host=target.host) as other:
                told.append(await client.assess({"teller": url, "other": other}, start="teller"))
            tokens += teller.tokens
        teller.tokens = sorted(set(tokens))
        expect(len(teller.tokens) == 4, f"{len(teller.tokens)} tokens were told, and not four")
        yield teller, told


def _expect_gone(teller: Teller, place: str, text: bytes) -> None:
    for token in teller.tokens:
        left = left_of(token, text)
        expect(not left, f"{len(left)} parts of a token are in {place}")
        expect(token.encode() not in text, f"a token is in {place}")
