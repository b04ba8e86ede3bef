"""The seat with a language model, against endpoints that play by rules, write nothing, or fail."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from concord.llm import LLMSettings
from concord_purple.seat import REPLY_SCHEMA, create_app
from concord_suites import FAMILIES
from concord_suites.player import reply
from tests.kit.llm_server import Asked, FakeModel, fake_model
from tests.kit.serving import reserved, served, url_of
from tests.kit.stack import stack


def by_rules(asked: Asked) -> str:
    """A reply by the families' grammar."""
    return reply(asked["messages"][-1]["content"], FAMILIES)


@asynccontextmanager
async def seats(settings: LLMSettings, *, schema: bool) -> AsyncIterator[str]:
    """Serves the seats; yields their address."""
    holder = reserved()
    async with served(create_app(f"{url_of(holder)}/", settings, schema=schema), holder) as url:
        yield f"{url}/"


async def row_with(
    model: FakeModel, redis_url: str, output: Path, *, schema: bool = True, **config: object
) -> dict[str, Any]:
    async with (
        fake_model(model) as settings,
        seats(settings, schema=schema) as agent,
        stack(redis_url, output) as running,
    ):
        # The reports of the seats are awaited: the cost in the row is made of them.
        return await running.row({"agent": agent}, tasks=None, quiet_s=0.2, closing_cap_s=20, **config)


@pytest.mark.parametrize(("schema", "suite"), [(True, "quick"), (False, "maximum")])
async def test_a_model_that_follows_the_text_of_its_turns_does_every_task(
    redis_url: str, tmp_path: Path, schema: bool, suite: str
) -> None:
    model = FakeModel(by_rules)
    row = await row_with(model, redis_url, tmp_path, suite=suite, schema=schema)
    assert {trial["grading"]["value"] for trial in row["detail"]["trials"]} == {1}
    formats = [asked.get("response_format") for asked in model.asked]
    assert all((form is not None) == schema for form in formats)
    assert all(form is None or form["json_schema"]["schema"] == REPLY_SCHEMA for form in formats)
    cost = row["detail"]["cost"]
    assert (cost["model_calls"], cost["tokens"], cost["untold_calls"]) == (len(model.asked), 15 * len(model.asked), 0)


async def test_a_failed_model_is_a_failed_seat_with_its_reason(redis_url: str, tmp_path: Path) -> None:
    model = FakeModel(by_rules, statuses=[400] * 100)
    row = await row_with(model, redis_url, tmp_path, schema=False, suite="maximum", seats=2, max_rounds=2)
    [trial] = row["detail"]["trials"]
    assert "The language model gave no reply" in trial["error"]
    assert "sk-test" not in str(row)
    assert {failure["cause"] for failure in trial["team_task"]["failures"]} == {"agent_failed"}
    assert row["score"] == 0


async def test_an_empty_completion_is_a_reply_without_an_answer(redis_url: str, tmp_path: Path) -> None:
    row = await row_with(FakeModel(lambda _: "  "), redis_url, tmp_path, suite="maximum", seats=2, max_rounds=2)
    [trial] = row["detail"]["trials"]
    assert "no answer in 2 rounds" in trial["error"]
    assert {failure["cause"] for failure in trial["team_task"]["failures"]} <= {"unreadable", "not_sent"}
    assert row["score"] == 0
