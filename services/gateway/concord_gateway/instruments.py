"""The gateway's Prometheus metrics. No label has a value that a client or a participant chooses."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from concord_gateway.evaluation import RowHead

ASSESSMENTS: Final = ("completed", "failed", "rejected")
CARRIED: Final = ("answered", "failed", "refused")
"""`refused`: by one of the gateway's limits, or for lack of memory."""

TRIALS: Final = ("judged", "unjudged", "unusable")
SOURCES: Final = ("llm", "rules")
STARTS: Final = ("started", "failed")

_DURATIONS: Final = (1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14400)
_WAITS: Final = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_BATCHES: Final = (1, 5, 10, 50, 100, 500, 1000, 5000, 10000)


class Instruments:
    """The gateway's metrics, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.assessments = self._counter("assessments_total", "Messages by how they ended.", "outcome", ASSESSMENTS)
        self.assessment_seconds = self._histogram(
            "assessment_seconds", "Time from the start of an assessment to its row.", _DURATIONS
        )
        self.running = self._gauge("assessments_running", "Assessments that run.")
        self.waiting = self._gauge("assessments_waiting", "Assessments that wait for their turn.")
        self.trials = self._counter("trials_total", "Trials of rows, by what became of them.", "outcome", TRIALS)
        self.judgments = self._counter(
            "judgments_total", "Judgments of trials, by language model or rules.", "source", SOURCES
        )
        self.infrastructure = self._total(
            "infrastructure_failures_total", "Failures in rows that are not the participants'."
        )
        self.evaluation_seconds = self._histogram(
            "evaluation_wait_seconds", "Time from the closing of a trial to its verdict.", _WAITS
        )
        self.trace_batches = self._histogram(
            "trace_batches", "Batches in a trial's stream when the trial was closed.", _BATCHES
        )
        self.carried = self._counter(
            "carried_calls_total", "Calls between participants at the proxy, by how they ended.", "outcome", CARRIED
        )
        self.unwritten = self._total("unwritten_results_total", "Rows that could not be written to the output folder.")
        self.unstored = self._total("unstored_calls_total", "Carried calls that could not be stored.")
        self.under_way = self._gauge("exchanges_under_way", "Requests that the proxy has in hand.")
        self.environments = self._gauge("environments", "Environment processes that run.")
        self.environment_starts = self._counter(
            "environment_starts_total", "Starts of environment processes.", "outcome", STARTS
        )
        self.environments_lost = self._total(
            "environments_lost_total", "Environment processes that ended by themselves."
        )

    def count_row(self, row: RowHead, trials: int) -> None:
        """Counts the outcomes of a finished assessment, which had `trials` trials."""
        usable = [trial for trial in row.trials if trial.usable]
        unjudged = sum(trial.overall_score is None for trial in usable)
        self.trials.labels("judged").inc(len(usable) - unjudged)
        self.trials.labels("unjudged").inc(unjudged)
        self.trials.labels("unusable").inc(max(0, trials - len(usable)))
        for trial in row.trials:
            if trial.judge is not None:
                self.judgments.labels(trial.judge.source).inc()
        failures = row.infrastructure
        self.infrastructure.inc(sum(failure.caused_by != "participants" for failure in failures))

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(f"concord_gateway_{name}", text, buckets=buckets, registry=self.registry)

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(f"concord_gateway_{name}", text, registry=self.registry)

    def _total(self, name: str, text: str) -> Counter:
        return Counter(f"concord_gateway_{name}", text, registry=self.registry)

    def _counter(self, name: str, text: str, label: str, values: tuple[str, ...]) -> Counter:
        """A counter with a label of few values. All values exist from the start, so that the first event has a rate."""
        counter = Counter(f"concord_gateway_{name}", text, [label], registry=self.registry)
        for value in values:
            counter.labels(value)
        return counter
