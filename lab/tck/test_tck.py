"""The comparison with the A2A compatibility kit, tried with a small kit that has the real one's command lines."""

from pathlib import Path

import httpx
import pytest
from rich.console import Console

from lab.tck.__main__ import compare
from lab.tck.kit import Kit, NoKitError, figures, worse
from lab.tck.servers import BEHAVIOURS, concords_server, sdks_server

CONFTEST = """
import pytest

def pytest_addoption(parser):
    for name in ("--sut-url", "--test-scope", "--transports"):
        parser.addoption(name)

@pytest.fixture
def url(request):
    return request.config.getoption("--sut-url")
"""
TESTS = """
import json, pytest, urllib.request

def test_card(url):
    assert json.load(urllib.request.urlopen(f"{url}/.well-known/agent-card.json"))["name"] == "Conformance"

def test_never(url):
    raise AssertionError

@pytest.mark.skip
def test_not():
    pass
"""
RUN_10 = """
import pytest, sys
host, rest = sys.argv[sys.argv.index("--sut-host") + 1], sys.argv[sys.argv.index("--") + 1 :]
raise SystemExit(pytest.main(["tests/compatibility", f"--sut-url={host}", *rest]))
"""


def small_kit(folder: Path, tests: str, runner: str = "") -> Kit:
    (folder / tests).mkdir(parents=True)
    (folder / "run_tck.py").write_text(runner)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / tests / "test_small.py").write_text(TESTS)
    return Kit.of(folder)


@pytest.mark.parametrize(
    ("version", "tests", "runner"), [("1.0", "tests/compatibility", RUN_10), ("0.3", "tests/mandatory", "")]
)
async def test_a_kit_of_each_version_is_run_on_both_servers(
    version: str, tests: str, runner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    console = Console(record=True, width=200)
    assert await compare([small_kit(tmp_path, tests, runner)], console) == []
    lines = console.export_text().splitlines()
    assert [line.split()[:2] for line in lines[::2]] == [[version, "JSON-RPC"], [version, "REST"]]
    assert [line.endswith("1 passed, 1 failed, 1 skipped") for line in lines] == [True] * 4


@pytest.mark.parametrize("message_id", [name for name, _ in BEHAVIOURS if name != "test-resubscribe"] + ["other"])
async def test_both_servers_behave_alike(message_id: str) -> None:
    said = []
    for server in (concords_server, sdks_server):
        async with server() as url, httpx.AsyncClient() as http:
            parts = [{"kind": "text", "text": "Hello"}]
            message = {"kind": "message", "role": "user", "messageId": f"{message_id}-1", "parts": parts}
            document = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
            task = (await http.post(url, json=document)).json()["result"]
        said.append((task["status"]["state"], [each["parts"] for each in task.get("artifacts", [])]))
    assert said[0] == said[1]


def test_a_test_that_only_the_sdk_passes_is_named() -> None:
    ours, theirs = {"a": "passed", "b": "failed"}, {"a": "passed", "b": "passed", "c": "passed", "d": "failed"}
    assert worse(ours, theirs) == ["b", "c"]  # type: ignore[arg-type]  # the keys' values are literals
    assert figures({"a": "passed", "b": "skipped"}) == "1 passed, 0 failed, 1 skipped"


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoKitError, match="no copy of a2a-tck"):
        Kit.of(tmp_path)
