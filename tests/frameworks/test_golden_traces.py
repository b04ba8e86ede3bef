"""The traces in `tests/recordings/frameworks`: agents, calls with their kinds, and failed calls of the programs.

`examples/frameworks/setups.json` has the truth about each program; `make lab NAME=frameworks` records the traces anew.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from concord.assessment.results import InteractionRecord
from concord_evaluator.formats import Source, Trace, UnrecognisedError, read_traces
from tests.kit.sources import agents_of, evaluated

ROOT = Path(__file__).parents[2]
SETUPS: dict[str, dict[str, Any]] = json.loads((ROOT / "examples/frameworks/setups.json").read_text())["setups"]
TOLD = [name for name, setup in SETUPS.items() if "refused" not in setup]
UNTOLD = [name for name, setup in SETUPS.items() if "refused" in setup]
SERVICE = "demo-service"


def recorded(name: str) -> list[Trace]:
    with Path(ROOT, "tests/recordings/frameworks", f"{name}.jsonl").open("rb") as file:
        return list(read_traces(Source(f"{name}.jsonl", file)))


def edges(call: InteractionRecord) -> list[tuple[str, str, str, int]]:
    return [(call.caller, call.callee, kind, calls) for kind, calls in call.kinds.items()]


@pytest.mark.parametrize("name", TOLD)
def test_a_trace_has_the_agents_and_calls_of_its_program(name: str) -> None:
    [trace] = recorded(name)
    calls = evaluated(trace).detail.trials[0].interactions
    truth = SETUPS[name]["edges"]
    assert agents_of(trace) == SETUPS[name]["agents"]
    assert sorted(edge for call in calls for edge in edges(call)) == sorted(tuple(edge[:4]) for edge in truth)
    assert sum(call.errors for call in calls) == sum(edge[4] for edge in truth)


@pytest.mark.parametrize("name", TOLD)
def test_every_call_says_what_tells_it_and_no_source_contradicts_it(name: str) -> None:
    [trace] = recorded(name)
    for call in evaluated(trace).detail.trials[0].interactions:
        assert call.known_by is not None
        assert call.support is not None
        assert sum(call.known_by.known().values()) == sum(call.support.known().values()) == call.calls
        assert not call.support.contradicted


@pytest.mark.parametrize("name", UNTOLD)
def test_a_trace_that_does_not_tell_all_work_is_refused(name: str) -> None:
    with pytest.raises(UnrecognisedError, match=SETUPS[name]["refused"]):
        recorded(name)


def test_every_recording_belongs_to_a_set_up() -> None:
    assert {path.stem for path in Path(ROOT, "tests/recordings/frameworks").glob("*.jsonl")} == SETUPS.keys()


def test_every_environment_has_its_versions() -> None:
    versions = json.loads(Path(ROOT, "tests/recordings/frameworks/versions.json").read_text())
    assert versions.keys() == {setup["environment"] for setup in SETUPS.values()}
