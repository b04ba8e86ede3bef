"""The environments of A2A contexts: their number, their way out, and what one trial may write into them."""

import asyncio
import sys

import httpx
import pytest
from fastapi import FastAPI

from concord_assistant.environment.flaky import FlakyCalls
from concord_gateway.assistants import AssistantContexts, contexts, environment_routes
from tests.kit.environment_stand_in import STAND_IN
from tests.kit.serving import eventually

COMMAND = (sys.executable, "-c", STAND_IN)


def contexts_of(max_environments: int, idle_s: float = 60, command: tuple[str, ...] = COMMAND) -> AssistantContexts:
    """Contexts whose environments are stand-ins."""
    return AssistantContexts(
        "http://gateway/", max_environments=max_environments, idle_s=idle_s, environment_command=command
    )


def place_of(url: str | None) -> str:
    """The place in an environment's URL for assistants."""
    assert url is not None
    return url.rpartition("/")[2]


async def test_an_idle_environment_makes_room_and_a_busy_one_is_waited_for() -> None:
    started, done = asyncio.get_running_loop().create_future(), asyncio.Event()

    async def use_another() -> None:
        async with found.agent("two") as agent:
            started.set_result(agent.server)
            await done.wait()

    async with contexts_of(1) as found:
        async with found.agent("one") as agent:
            first = agent.server
            using = asyncio.create_task(use_another())
            for _ in range(10):
                await asyncio.sleep(0)
            assert not started.done()
            assert first.pid is not None
        second = await asyncio.wait_for(started, 20)
        assert first.pid is None
        assert second.pid is not None
    assert second.pid is None, "the end of all contexts ends environments in use too"
    done.set()
    await using


async def test_an_environment_ends_when_it_is_idle_for_long() -> None:
    async with contexts_of(1, idle_s=0.1) as found:
        async with found.agent("one") as agent:
            assert agent.server.pid is not None
        await eventually(lambda: agent.server.pid is None)


async def test_an_agent_whose_environment_cannot_start_is_forgotten() -> None:
    async with contexts_of(1, command=(sys.executable, "-c", "raise SystemExit(1)")) as broken:
        for context_id in ("one", "two"):
            with pytest.raises(Exception, match="ended with exit code 1"):
                async with broken.agent(context_id):
                    pass


async def test_a_trial_may_write_so_much_and_the_next_one_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts, "MAX_WRITES", 3)
    monkeypatch.setattr(contexts, "MAX_WRITTEN_BYTES", 100)
    app = FastAPI()
    async with contexts_of(1) as found, environment_routes(found) as routes:
        app.router.routes.extend(routes)
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as http:
            for bodies in ([b"x"] * 5, [b"x" * 60] * 3):
                async with found.agent("one") as agent:
                    url = f"/ues/{place_of(agent.config.advertised_url)}/email/send"
                    # The stand-in knows no POST, and says so.
                    statuses = [(await http.post(url, content=body)).status_code for body in bodies]
                    assert (await http.get(url)).status_code == 200
                assert statuses == [501] * (3 if len(bodies) == 5 else 1) + [429] * 2


async def test_a_flaky_trial_refuses_calls_that_count_for_nothing_and_the_next_trial_none() -> None:
    app = FastAPI()
    async with contexts_of(1) as found, environment_routes(found) as routes:
        app.router.routes.extend(routes)
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as http:
            for flaky, refused, forwarded in ((FlakyCalls(), 2, 4), (None, 0, 6)):
                async with found.agent("one", flaky) as agent:
                    url = f"/ues/{place_of(agent.config.advertised_url)}/email/send"
                    answers = [await http.post(url) for _ in range(6)]
                    again = [each.headers.get("retry-after") for each in answers if each.status_code == 503]
                    assert again == ["0"] * refused
                    assert found.writes("one") == forwarded
