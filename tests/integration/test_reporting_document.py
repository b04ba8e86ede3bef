"""`docs/reporting.md`: its examples work against a real collector as they are written."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from ipaddress import ip_network
from pathlib import Path

import httpx
import pytest

from concord.storage import OPEN_SCOPE
from concord.storage.connection import Storage, connect
from concord.trace.effects import EffectKind, effect_of
from concord.trace.report import Channel
from tests.kit.collectors import SECRET, bearer, collector, reports

DOCUMENT = Path("docs/reporting.md").read_text(encoding="utf-8")
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[httpx.AsyncClient]:
    loopback = (ip_network("127.0.0.0/8"),)
    async with collector(redis_url, token_secret=SECRET, open=False, allowed_peer_networks=loopback) as client:
        yield client


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)


def environment(client: httpx.AsyncClient) -> dict[str, str]:
    return dict(os.environ) | {
        "COLLECTOR": str(client.base_url).rstrip("/"),
        "TOKEN": bearer("writer", TRACE)["authorization"].split()[1],
        "STANDING_TOKEN": bearer("writer", OPEN_SCOPE, OPEN_SCOPE)["authorization"].split()[1],
        "OWN_URL": "http://127.0.0.1:9009/",
    }


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
async def test_the_shell_examples_report_a_step_and_a_span_and_register_an_agent(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    for block in blocks("sh"):
        done = await asyncio.to_thread(
            subprocess.run,
            ["sh", "-eu", "-c", block],
            env=environment(client),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
    sources = {(report.channel, report.reporter, report.authenticated) for report in await reports(storage, TRACE)}
    assert sources == {(Channel.HTTP, "writer", True), (Channel.OTLP, "writer", True)}
    step, span = (report.step for report in await reports(storage, TRACE))
    assert (step.agent_call is not None, step.latency_ms) == (True, 1250.0)
    assert (span.parent, span.latency_ms) == (step.step_id, 750.0)
    assert [entry.url for entry in await storage.registry.agents(OPEN_SCOPE)] == ["http://127.0.0.1:9009/"]


async def test_the_python_examples_report_a_step_and_effects(client: httpx.AsyncClient, storage: Storage) -> None:
    step, effects = blocks("python")
    prelude = f"""
import os
from types import SimpleNamespace
from concord.wire.assignment import ASSIGNMENT_KEY
message = SimpleNamespace(metadata={{ASSIGNMENT_KEY: {{
    "assessment_id": "a1", "trace_id": {TRACE!r}, "step_id": "53ce929d0e0e4736", "agent_id": "writer",
    "collector_url": os.environ["COLLECTOR"], "token": os.environ["TOKEN"],
}}}})
"""
    command = [sys.executable, "-c", prelude + step + effects]
    await asyncio.to_thread(subprocess.run, command, env=environment(client), check=True)
    found = await reports(storage, TRACE)
    assert {(each.reporter, each.authenticated, each.step.parent) for each in found} == {
        ("writer", True, "53ce929d0e0e4736")
    }
    told = [effect_of(each.step.additional_attributes) for each in found]
    assert told.count(None) == 1
    assert [effect.kind for effect in told if effect is not None] == [
        EffectKind.CLAIMED,
        EffectKind.EDITED,
        EffectKind.CHECKED,
        EffectKind.DELIVERED,
    ]
