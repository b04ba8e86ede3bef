"""Findings on recorded frameworks: a team that hands over control has no bottleneck, a hub that delegates is one."""

from pathlib import Path

import pytest

from concord.assessment import AssessmentConfig
from concord_evaluator.formats import Source, read_traces
from concord_evaluator.offline import evaluate_trace

RECORDED = Path(__file__).parents[3] / "recordings" / "frameworks"


def label(setup: str) -> tuple[str | None, set[str]]:
    """The label of coordination, and the agents that are bottlenecks."""
    path = RECORDED / f"{setup}.jsonl"
    with path.open("rb") as file:
        [trace] = read_traces(Source(path.name, file))
    detail = evaluate_trace(trace, AssessmentConfig()).detail
    hubs = {agent for finding in detail.findings if finding.id == "bottleneck" for agent in finding.agents}
    return detail.coordination_quality, hubs


@pytest.mark.parametrize(
    "setup",
    [
        "langgraph-chain-openinference",
        "google-adk-sequential",
        "google-adk-transfer",
        "autogen-swarm",
        "agent-framework-sequential",
    ],
)
def test_a_sequence_or_a_chain_of_handoffs_has_no_bottleneck(setup: str) -> None:
    quality, hubs = label(setup)
    assert (quality == "bottleneck", hubs) == (False, set())


def test_a_supervisor_that_delegates_is_a_bottleneck() -> None:
    assert label("langgraph-supervisor-openinference")[0] == "bottleneck"
