"""The verdict on the user's own tasks names who made the answer wrong, from calls that the gateway carried."""

import tomllib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from concord.a2a import IncomingMessage, TaskHandle
from concord.agent.peers import PeerDiscovery
from concord.assessment.result_row import ResultRow
from concord.assessment.verdict import Cause
from examples.ferry.__main__ import Clerk
from tests.kit.concord import ROOT
from tests.kit.serving import served_agent
from tests.kit.stack import Stack, stack

pytestmark = pytest.mark.usefixtures("anyio_backend")

RIGHT, WRONG = (f"The last ferry to Aalvik leaves at {time}." for time in ("17:20", "16:35"))
CONFIG = tomllib.loads((ROOT / "examples/ferry/team.toml").read_text(encoding="utf-8"))["config"]


@pytest.fixture(scope="module")
async def services(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with stack(redis_server, tmp_path_factory.mktemp("stack")) as running:
        yield running


async def fail(_: IncomingMessage, task: TaskHandle) -> None:
    await task.fail("KeyError: 'ferry'")


async def causes(services: Stack, **notes: str | None) -> list[Cause]:
    """The causes for a desk that asks clerks with these notes; a clerk without any fails."""
    async with AsyncExitStack() as running:
        peers = PeerDiscovery({})
        running.push_async_callback(peers.close)
        desk = Clerk("", list(notes), peers)
        clerks = {name: fail if note is None else Clerk(note, (), peers) for name, note in notes.items()}
        urls = {
            name: await running.enter_async_context(served_agent(handler))
            for name, handler in {"desk": desk, **clerks}.items()
        }
        row = ResultRow.model_validate(await services.row(urls, **CONFIG))
    assert row.detail.verdict is not None
    return row.detail.verdict.causes


async def test_a_helper_that_is_wrong_is_named_with_its_words(services: Stack) -> None:
    [cause] = await causes(services, weather="I do not know.", timetable=WRONG)
    assert (cause.kind, cause.agents, cause.points) == ("wrong_value", ("timetable",), 100)
    assert [each.text for each in cause.evidence] == [WRONG]


async def test_a_helper_that_failed_is_named_with_its_error(services: Stack) -> None:
    [cause] = await causes(services, weather="I do not know.", timetable=None)
    assert (cause.kind, cause.agents) == ("agent_failed", ("timetable",))
    assert "KeyError: 'ferry'" in cause.evidence[0].text


async def test_nobody_is_named_for_a_right_answer(services: Stack) -> None:
    assert await causes(services, weather=None, timetable=RIGHT) == []
