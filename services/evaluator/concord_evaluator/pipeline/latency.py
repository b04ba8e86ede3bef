"""The latency evaluator: how long the agents took to answer."""

from collections.abc import Mapping

from concord_evaluator.latency import latencies_of, summarise
from concord_evaluator.pipeline.evaluator import Contribution, TrialInput, evaluator


@evaluator("latency", tier=2)
def evaluate_latency(trial: TrialInput, _: Mapping[str, Contribution]) -> Contribution:
    """Summarises the latencies of all calls that agents were to answer, the assessor's included."""
    latencies = latencies_of(trial.projection.answered)
    return Contribution(latency=summarise(latencies, trial.roster), latencies=tuple(latencies))
