"""The sections of docs/benchmarks.md, and what each measures."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final, Protocol, cast

from lab.benchmarks.tables import Chart, ResultTable


class Measure(Protocol):
    """Measures a section. `soak_s`: how long memory is watched, and assessments are repeated (seconds)."""

    def __call__(self, *, soak_s: float) -> list[ResultTable | Chart]: ...


@dataclass(frozen=True, slots=True)
class Section:
    """A module with a function `measure` (see `Measure`). `asked`: it is only measured if it is asked for."""

    module: str
    what: str
    asked: bool = False

    def measure(self, soak_s: float) -> list[ResultTable | Chart]:
        """The tables and charts of the section."""
        measure = cast(Measure, import_module(f"lab.benchmarks.{self.module}").measure)
        return measure(soak_s=soak_s)


SECTIONS: Final[Mapping[str, Section]] = {
    "collector": Section("traces.collector", "steps and spans a CPU second, latency, memory; the cost of reporting"),
    "evaluator": Section("traces.evaluator", "traces of up to a million steps, by stage; engines; a slow judge"),
    "recorded": Section(
        "traces.recorded", "`concord evaluate` and `report` of files in OTLP (JSON, protobuf) and JSONL"
    ),
    "results": Section("traces.results", "`concord report --index` and `compare` of hundreds of rows"),
    "proxy": Section("gateway.proxy", "what the gateway's proxy adds to a call, and to the events of 200 streams"),
    "rounds": Section("gateway.rounds", "100 seats in 20 rounds, beside as many bare calls; 39,600 messages"),
    "assessments": Section("gateway.assessments", "assessments in a row, 200 at once, and the largest request"),
    "bystander": Section("gateway.bystander", "an assessment beside neighbours that take all they may"),
    "workers": Section("gateway.workers", "trials a second with 1, 2 and 4 workers; a judge that computes"),
    "scaling": Section("gateway.scaling", "CPU and bytes of an assessment, a trial and a step, by service"),
    "environment": Section("environment.speed", "advances, calls over HTTP, whole states"),
    "defences": Section("scores.defences", "what attacks on the judge gain, by defence"),
    "power": Section("scores.power", "the pairs that `concord gate` needs, and its false alarms"),
    "detectable": Section("scores.detectable", "the differences that the shipped manifests show"),
    "peers": Section("peers.section", "MLflow, Phoenix, OpenTelemetry's batch processor, a bare proxy", asked=True),
}
