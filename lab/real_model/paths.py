"""The places that a model can take, and what must be true of the row of each, whatever the model writes."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from concord.assessment.result_row import ResultRow
from concord.assessment.results import TrialRecord
from concord.assessment.verdict import UnknownKind
from tests.kit.exchanges import Exchange

MODEL: Final = "SmolLM2-135M-Instruct"

SEATS: Final = """
[[participants]]
name = "agent"
cmd = "python -m concord_purple.seat --max-tokens 90{options}"

[participants.env]
AGENTBEATS_LLM_API_KEY = "none"
AGENTBEATS_LLM_BASE_URL = "{endpoint}"
AGENTBEATS_LLM_MODEL = "{model}"
AGENTBEATS_LLM_TIMEOUT_S = "240"
AGENTBEATS_LLM_MAX_RETRIES = "0"

[config]
suite = ["maximum"]
seats = 3
difficulty = 1
max_rounds = 3
trial_timeout_s = 480
turn_timeout_s = 160
"""

JUDGE: Final = """
[[participants]]
name = "writer"
cmd = "python -m concord_purple --mode echo"

[config]
timeout_s = 240

[[config.tasks]]
id = "colour"
text = "Name a colour."
"""

CHARACTER: Final = """
[[participants]]
name = "writer"
cmd = "python -m concord_purple --assistant dump"

[config]
scenario = "boat_shed_key"
"""


@dataclass(frozen=True, slots=True)
class ModelPath:
    """One place of the model: the scenario, or the name of an assistant's scenario folder, and what its row owes."""

    name: str
    owes: Callable[[ResultRow, Sequence[Exchange]], Iterator[str]]
    scenario: str = ""
    folder: str = ""
    unruled: bool = False
    """Whether it plays the scenario whose characters have no rules, so that the model speaks for them."""
    env: Mapping[str, str] = field(default_factory=dict)
    """What the whole run gets beside the model's address, which it gets if this is not empty."""


def seats_owe(row: ResultRow, exchanges: Sequence[Exchange]) -> Iterator[str]:
    """The row's model calls that tell tokens are the completions. What went wrong has a cause."""
    [trial] = row.detail.trials
    cost, done = row.detail.cost, [each for each in exchanges if each.tokens]
    if cost is None or cost.model_calls is None:
        yield "the row has no model calls"
    elif (cost.model_calls - cost.untold_calls, cost.tokens) != (len(done), sum(each.tokens for each in done)):
        yield f"{len(done)} completions of {sum(each.tokens for each in done)} tokens, and the row has {cost}"
    yield from _graded_by_code(trial)


def _graded_by_code(trial: TrialRecord) -> Iterator[str]:
    if trial.grading is None or trial.grading.source != "code":
        yield "no code graded the answers"
    if trial.team_task is None:
        yield "the row has no flow of facts"
    elif trial.overall_score == 0 and not trial.team_task.failures:
        yield "nothing was right, and the row names no cause"


def judge_owes(row: ResultRow, exchanges: Sequence[Exchange]) -> Iterator[str]:
    """The model judged, or rules did and the row says why."""
    [trial] = row.detail.trials
    if not exchanges:
        yield "the model was not asked"
    if trial.judge is None:
        yield "the trial has no judgment"
    elif trial.judge.source == "rules" and not trial.judge.reason:
        yield "rules judged, and the row does not say why"
    elif trial.judge.source == "llm" and re.search(MODEL, trial.judge.model or "") is None:
        yield "the row does not name the judge's model"
    elif trial.judge.source == "rules" and trial.overall_score is not None and trial.overall_score > 0:
        yield "nobody judged the answer, and it has points"


def assistant_owes(row: ResultRow, exchanges: Sequence[Exchange]) -> Iterator[str]:
    """The assistant took its turns or the row says why not; what it left undone earns nothing."""
    [trial] = row.detail.trials
    if not exchanges:
        yield "the model was not asked"
    if row.detail.assistant is None and not trial.error:
        yield "the row has neither an assistant's result nor a reason"


def character_owes(row: ResultRow, exchanges: Sequence[Exchange]) -> Iterator[str]:
    """The model was asked what the character says, the row has a result, and tells of replies that nobody gave."""
    if not exchanges:
        yield "the model was not asked"
    if row.detail.assistant is None:
        yield "the row has no assistant's result"
    unknown = [] if row.detail.verdict is None else row.detail.verdict.unknown
    if any(not each.tokens for each in exchanges) and not any(
        each.kind is UnknownKind.PEOPLE_FAILED for each in unknown
    ):
        yield "the model did not speak for the character, and the verdict does not say so"


PATHS: Final = (
    ModelPath("seats", seats_owe, scenario=SEATS.replace("{options}", "")),
    ModelPath("seats-no-schema", seats_owe, scenario=SEATS.replace("{options}", " --no-schema")),
    ModelPath(
        "judge",
        judge_owes,
        scenario=JUDGE,
        env={
            "AGENTBEATS_LLM_MAX_RETRIES": "0",
            "CONCORD_JOB_TIMEOUT_LLM_S": "1000",
            "CONCORD_EVALUATION_TIMEOUT_S": "1200",
        },
    ),
    ModelPath("assistant", assistant_owes, folder="first_day", env={"AGENTBEATS_LLM_MAX_RETRIES": "0"}),
    ModelPath(
        "character",
        character_owes,
        scenario=CHARACTER,
        unruled=True,
        env={"AGENTBEATS_LLM_MAX_RETRIES": "0"},
    ),
)
