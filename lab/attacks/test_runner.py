"""The verdict of an attack: held only if the attack was made and the stack still answers afterwards."""

import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from fastapi import FastAPI

from lab.attacks import (
    access,
    addressees,
    answers,
    bodies,
    closing,
    collusion,
    connections,
    floods,
    hosts,
    losses,
    names,
    token_leaks,
    waiting,
)
from lab.attacks.attack import Attack, NotHeldError, NotTriedError, Verdict
from lab.attacks.catalogue import ATTACKS
from lab.attacks.runner import run_attack
from lab.attacks.target import Target
from tests.kit.serving import reserved, served, url_of


@asynccontextmanager
async def ready_stack() -> AsyncIterator[Target]:
    """A stack that answers as ready."""
    app = FastAPI()

    @app.get("/readyz")
    async def readyz() -> dict[str, str]:
        return {}

    async with served(app) as url:
        yield Target(url, url, "127.0.0.1")


async def refused_attack(_: Target) -> str:
    return "refused"


async def successful_attack(_: Target) -> str:
    raise NotHeldError("let in")


async def crashing_attack(_: Target) -> str:
    raise RuntimeError("unforeseen")


async def unmakeable_attack(_: Target) -> str:
    raise NotTriedError("it takes more")


@pytest.mark.parametrize(
    ("run", "verdict", "seen"),
    [
        (refused_attack, Verdict.HELD, "refused"),
        (successful_attack, Verdict.NOT_HELD, "let in"),
        (crashing_attack, Verdict.NOT_HELD, "it ended with RuntimeError: unforeseen"),
        (unmakeable_attack, Verdict.NOT_TRIED, "it takes more"),
    ],
)
async def test_an_attack_ends_as_it_says(run: object, verdict: Verdict, seen: str) -> None:
    async with ready_stack() as target:
        outcome = await run_attack(Attack("it", "Does it.", run), target)  # type: ignore[arg-type]
    assert (outcome.verdict, outcome.seen) == (verdict, seen)


async def test_an_attack_after_which_the_stack_does_not_answer_was_not_held() -> None:
    with reserved() as holder:
        gone = Target(url_of(holder), url_of(holder), "127.0.0.1")
        outcome = await run_attack(Attack("it", "Does it.", refused_attack), gone)
    assert outcome.verdict is Verdict.NOT_HELD
    assert outcome.seen.startswith("the gateway does not answer any more")


def test_every_attack_there_is_is_listed_under_a_name_of_its_own() -> None:
    modules = (
        access,
        addressees,
        answers,
        bodies,
        closing,
        collusion,
        connections,
        floods,
        hosts,
        losses,
        names,
        token_leaks,
        waiting,
    )
    written = {
        function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.iscoroutinefunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }
    assert {attack.run for attack in ATTACKS} == written
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert all(attack.how.endswith(".") for attack in ATTACKS)
