"""`python -m lab.benchmarks.gateway.sizing [--write]`: what loads need, by the measured costs in docs/benchmarks.md.

`--write` puts the tables into docs/scaling.md.
"""

import argparse
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console

from lab.benchmarks.tables import ResultTable, write_section

DOCS: Final = Path(__file__).parents[3] / "docs"
DAY_S: Final = 86_400
TIMES: Final = "\N{MULTIPLICATION SIGN}"
MIB: Final = 2**20
GIB: Final = 2**30

# From other tables of docs/benchmarks.md, rounded up.
CALL_MS: Final = 3.8
"""CPU of the gateway for a call that it makes in rounds; a carried call takes less."""
BATCH_MS: Final = 1.1
"""CPU of the collector for a batch of up to 100 steps."""
EVALUATED_STEP_MS: Final = 0.04
"""CPU of the fast worker for a step, with ten to a hundred agents."""

SEARCH_MS: Final = 0.0012
"""CPU of Redis for a search for abandoned tasks, per running task."""
SEARCH_EVERY_S: Final = 5
"""A third of the default of CONCORD_LEASE_S."""

KEEP_S: Final = 3600
SLOTS: Final = 16
WORKER_JOBS: Final = 4
KEPT_TASKS: Final = 1000
"""The defaults of CONCORD_KEEP_S, CONCORD_MAX_ASSESSMENTS and CONCORD_MAX_JOBS, and the limit of finished tasks."""

USABLE: Final = 0.9
"""The default of CONCORD_REDIS_WATERMARK."""


@dataclass(frozen=True, slots=True)
class Costs:
    """The measured costs: milliseconds of CPU by part, and bytes in Redis."""

    assessment: Mapping[str, float]
    trial: Mapping[str, float]
    step: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Assessment:
    """An assessment of a team: its trials, and per trial the calls, the steps (calls included), the batches of reports,
    and the seconds that the team and the language model of the judge take."""

    trials: int = 10
    calls: int = 40
    steps: int = 240
    batches: int = 20
    team_s: float = 60
    judge_s: float = 5

    @property
    def seconds(self) -> float:
        """The duration: the trials run one after the other."""
        return self.trials * self.team_s


@dataclass(frozen=True, slots=True)
class Sum:
    """The cost of an assessment: its own share, and of each trial its own share and `count` times `each`."""

    assessment: float
    trials: int
    trial: float
    count: int
    each: float

    @property
    def value(self) -> float:
        """The sum."""
        return self.assessment + self.trials * (self.trial + self.count * self.each)

    def __str__(self) -> str:
        inner = (
            f"{self.trial:,g} + {self.count:,} {TIMES} {self.each:g}"
            if self.trial
            else f"{self.count:,} {TIMES} {self.each:g}"
        )
        outer = f"{self.assessment:,g} + " if self.assessment else ""
        return f"{outer}{self.trials} {TIMES} ({inner})"


@dataclass(frozen=True, slots=True)
class Needs:
    """The use by one assessment: milliseconds of CPU by part, seconds of a worker's job, and bytes in Redis."""

    cpu_ms: Mapping[str, Sum]
    judging_s: float
    redis_bytes: Sum


PEAK: Final = 5
"""The busiest hour has five times the mean load."""


def read_costs(document: str) -> Costs:
    """The costs in the section "Scaling" of docs/benchmarks.md."""
    section = document.partition("<!-- scaling -->")[2].partition("<!-- /scaling -->")[0]
    rows = re.findall(r"^\| (.+?)(?:, ms of CPU)? \| [^|]+ \| ([\d.,]+) \| ([\d.,]+) \| ([\d.,]+) \|$", section, re.M)
    numbers = {name: [float(each.replace(",", "")) for each in values] for name, *values in rows}
    assessment, trial, step = ({name: each[column] for name, each in numbers.items()} for column in range(3))
    return Costs(assessment, trial, step)


def needs_of(costs: Costs, kind: Assessment) -> Needs:
    """The use by one assessment."""

    def total(name: str, count: int, each: float) -> Sum:
        return Sum(costs.assessment[name], kind.trials, costs.trial[name], count, each)

    return Needs(
        {
            # The gateway's own steps are part of a call's cost.
            "gateway": total("gateway", kind.calls, CALL_MS),
            "collector": Sum(0, kind.trials, 0, kind.batches, BATCH_MS),
            "fast worker": total("fast worker", kind.steps, EVALUATED_STEP_MS),
            "LLM worker": total("LLM worker", kind.steps, costs.step["LLM worker"]),
            "Redis": total("Redis", kind.steps, costs.step["Redis"]),
        },
        kind.trials * kind.judge_s,
        total("bytes in Redis", kind.steps, costs.step["bytes in Redis"]),
    )


def sizing(needs: Needs, kind: Assessment, loads: tuple[int, ...]) -> list[ResultTable]:
    """The table of one assessment, and the table of the loads (assessments a day)."""
    one = ResultTable(
        "One assessment",
        f"{kind.trials} trials; each has {kind.calls} calls through the gateway, {kind.steps} steps in "
        f"{kind.batches} batches of reports, and takes {kind.team_s:.0f} s. The judge's model answers after "
        f"{kind.judge_s:.0f} s.",
        ("", "value", "arithmetic"),
        [
            *(
                (f"CPU of {_the(name)}", f"{cost.value / 1000:.2g} s", f"{cost} ms")
                for name, cost in needs.cpu_ms.items()
            ),
            (
                "jobs of the LLM worker wait for the model",
                f"{needs.judging_s:.0f} s",
                f"{kind.trials} {TIMES} {kind.judge_s:g} s",
            ),
            ("memory in Redis", f"{needs.redis_bytes.value / 1e6:.1f} MB", f"{needs.redis_bytes} bytes"),
            ("duration", f"{kind.seconds:.0f} s", f"{kind.trials} {TIMES} {kind.team_s:g} s"),
        ],
    )
    columns = [_needed(needs, kind, load) for load in loads]
    many = ResultTable(
        "Loads",
        f"The busiest hour of a day; its load is {PEAK} times the mean.",
        ("", *(f"{load:,} per day" for load in loads)),
        [(name, *(column[name] for column in columns)) for name in columns[0]],
    )
    return [one, many]


def _needed(needs: Needs, kind: Assessment, load: int) -> dict[str, str]:
    rate = PEAK * load / DAY_S
    running = rate * kind.seconds
    stored = rate * (KEEP_S + kind.seconds) * needs.redis_bytes.value
    judging = rate * needs.judging_s
    gateways = _pods(running / SLOTS)
    searches = gateways / SEARCH_EVERY_S * running * SEARCH_MS / 1000
    return {
        "assessments per second": f"{rate:.2g}",
        "running assessments": f"{running:.2g}" if running < 10 else f"{running:,.0f}",
        f"gateways, at {SLOTS} assessments each": f"{gateways:,}",
        **{f"cores of {_the(name)}": _cores(rate * cost.value / 1000) for name, cost in needs.cpu_ms.items()},
        "cores of Redis for searches by gateways": _cores(searches),
        f"LLM workers, at {WORKER_JOBS} jobs each": f"{_pods(judging / WORKER_JOBS):,}",
        "requests to the model per second": f"{rate * kind.trials:.2g}",
        "memory in Redis": _size(stored),
        f"nodes of 8 GiB, filled to {USABLE:.0%}": f"{_pods(stored / (8 * GIB * USABLE)):,}",
        "time to fetch a finished task": f"{min(KEEP_S, KEPT_TASKS / rate):,.0f} s",
    }


def _the(name: str) -> str:
    return name if name == "Redis" else f"the {name}"


def _size(size: float) -> str:
    return f"{size / GIB:.2g} GiB" if size >= GIB else f"{size / MIB:.2g} MiB"


def _cores(number: float) -> str:
    return f"{number:.2g}" if number >= 0.01 else "below 0.01"


def _pods(number: float) -> int:
    return max(1, math.ceil(number))


def tables() -> list[ResultTable]:
    """The tables of docs/scaling.md."""
    costs = read_costs((DOCS / "benchmarks.md").read_text(encoding="utf-8"))
    kind = Assessment()
    return sizing(needs_of(costs, kind), kind, (10, 1_000, 100_000))


def main() -> None:
    """Prints the tables, or writes them."""
    parser = argparse.ArgumentParser("lab.benchmarks.gateway.sizing", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/scaling.md")
    arguments = parser.parse_args()
    for table in tables():
        Console().print(table.rich())
    if arguments.write:
        write_section(DOCS / "scaling.md", "sizing", tables())


if __name__ == "__main__":
    main()
