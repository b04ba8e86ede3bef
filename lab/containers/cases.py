"""The cases: a scenario, the disturbance of its assessment, and its accepted outcomes."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from concord.assessment.result_row import ResultRow
from deploy.leaderboard.generate_compose import GREEN
from lab.containers.assessment import Outcome, UnclearError
from lab.containers.project import AGENT, Project
from tests.kit.ground_truth.classification import accuracy, classified
from tests.kit.ground_truth.dataset import PATH
from tests.kit.ground_truth.offline import tasks

PATTERNS: Final[list[dict[str, Any]]] = json.loads(PATH.read_text())["scenarios"]

GOOD_SCORE: Final = 90
"""The minimum score of a team that answers every task of a case correctly."""

_GAME: Final = {"suite": "maximum", "difficulty": 1, "exchange": "rounds"}
_LIMITS: Final = {"timeout_s": 120, "trial_timeout_s": 20}


@dataclass(frozen=True, slots=True)
class Case:
    """A case. `image` is the kind of the participant's image, None: no participant. `limit_s`: its whole time."""

    name: str
    image: str | None
    config: Mapping[str, Any]
    check: Callable[[Outcome], str]
    env: Mapping[str, str] = field(default_factory=dict)
    meanwhile: Callable[[Project], None] | None = None
    limit_s: float = 180
    quick: bool = False


def a_row(outcome: Outcome) -> str:
    """Accepts a row alone."""
    if outcome.row is None:
        raise UnclearError(outcome.text)
    return outcome.text


def a_row_or_a_failure(outcome: Outcome) -> str:
    """Accepts a row, and a failure with a reason."""
    return outcome.text


def a_good_row(outcome: Outcome) -> str:
    """Accepts a row with a good score and without a failure of the infrastructure."""
    row = _row(outcome)
    if (row.score or 0) < GOOD_SCORE or row.detail.infrastructure:
        raise UnclearError(outcome.text)
    return outcome.text


def a_row_that_blames_the_team(outcome: Outcome) -> str:
    """Accepts a row in which the participant's fault cost its points, and nothing counts under infrastructure."""
    row = _row(outcome)
    if row.score or row.detail.infrastructure:
        raise UnclearError(outcome.text)
    return outcome.text


def ground_truth(outcome: Outcome) -> str:
    """Accepts the correct kind and figures of every pattern."""
    records = {record.task_id: record for record in _row(outcome).detail.trials}
    results = [classified(pattern, records[pattern["id"]]) for pattern in PATTERNS]
    wrong = [each.id for each in results if each.deviations]
    if wrong or accuracy(results) < 1:
        raise UnclearError(f"classified wrongly: {', '.join(wrong)}")
    return f"row: {len(results)} of {len(results)} patterns classified, all figures as expected"


def a_failure(outcome: Outcome) -> str:
    """Accepts a failure with a reason alone."""
    if outcome.row is not None:
        raise UnclearError(outcome.text)
    return outcome.text


def _row(outcome: Outcome) -> ResultRow:
    if outcome.row is None:
        raise UnclearError(outcome.text)
    return outcome.row


def _killing(words: str) -> Callable[[Project], None]:
    return lambda project: project.kill_part(words)


def _slow(name: str, meanwhile: Callable[[Project], None], check: Callable[[Outcome], str]) -> Case:
    """A case whose assessment takes long enough to be disturbed."""
    config = {**_GAME, **_LIMITS, "num_runs": 3}
    return Case(name, "misbehaving", config, check, {"BEHAVIOUR": "slow"}, meanwhile)


def _misbehaving(name: str, behaviour: str, check: Callable[[Outcome], str]) -> Case:
    return Case(name, "misbehaving", {**_GAME, **_LIMITS}, check, {"BEHAVIOUR": behaviour})


CASES: Final = (
    Case("ground truth", None, {"tasks": tasks(PATTERNS)}, ground_truth, quick=True),
    Case("suite by rounds", "sample", {"suite": "quick", "exchange": "rounds"}, a_good_row, quick=True),
    Case("suite by calls", "sample", {"suite": "quick", "exchange": "calls"}, a_good_row),
    _slow("gateway, collector and workers killed", _killing("-m concord_cli.program"), a_row),
    _slow("Redis killed", _killing("valkey-server 127"), a_row_or_a_failure),
    _slow("participant's container killed", lambda project: project.kill(AGENT), a_row_or_a_failure),
    _slow("green agent's container killed", lambda project: project.kill(GREEN), a_failure),
    _misbehaving("agent hangs", "hang", a_row_that_blames_the_team),
    _misbehaving("agent answers slowly", "slow", a_good_row),
    _misbehaving("agent sends 100 MB", "flood", a_row_that_blames_the_team),
    _misbehaving("agent drops the connection", "drop", a_row_that_blames_the_team),
    _misbehaving("agent lies about its card", "lie", a_row_or_a_failure),
    Case("suite by rounds, after all of this", "sample", {"suite": "quick", "exchange": "rounds"}, a_good_row),
)
