"""What a comparison comes to, as JSON: scores and differences from 0 to 100, intervals null where there is none."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from concord.assessment.results import Basis


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TeamLine(_Part):
    """One team on its own tasks: what it reached, and the ranks that it may have among all.

    `unjudged`: trials that nobody judged; they are among `trials`, and count as 0.
    """

    name: str
    file: str
    rank_best: int
    rank_worst: int
    score: float
    score_low: float | None
    score_high: float | None
    passed: int
    pass_rate: float | None
    pass_rate_low: float | None
    pass_rate_high: float | None
    tasks: int
    trials: int
    unjudged: int
    infrastructure_failures: int
    confidence: Literal["insufficient", "low", "adequate"]
    latency_avg_ms: float | None


class PairLine(_Part):
    """Two teams on the tasks that they share: `difference` is the second's score less the first's."""

    first: str
    second: str
    shared_tasks: int
    paired_trials: int
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    verdict: Literal["insufficient", "no difference shown", "first is better", "second is better"]


class Comparison(_Part):
    """All of it. `groups`: those in which nobody is shown to be better than another; they may overlap.

    `level`: of the teams' intervals, and of all differences together; `pair_level`: of each difference (Bonferroni).
    """

    scoring_version: str
    basis: Basis
    level: float
    pair_level: float
    teams: list[TeamLine]
    pairs: list[PairLine]
    groups: list[list[str]]
    warnings: list[str]
