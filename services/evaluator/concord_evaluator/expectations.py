"""Expected answers: read from a file, found for a trace, and the grade of the trace's answer by them. Pure."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from concord.assessment import TaskSpec
from concord.assessment.results import AgentAnswer, Grading, TrialOutcome
from concord.assessment.scorers import ModelScorer
from concord_evaluator.formats import Trace
from concord_evaluator.formats.declared import BY_TRACE, expected_task
from concord_evaluator.scorers import grade_answers

TEAM: Final = "team"
"""Who gave the answer of a recording."""

NO_ANSWER: Final = "the recording has no answer to grade"

_IDS: Final = ("trace", "trace_id", "task", "task_id")


@dataclass(slots=True)
class Expectations:
    """Expected answers by the id of a trace, or by the id or the text of a task, and which of them were of use."""

    by_id: Mapping[str, TaskSpec] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def of(self, trace: Trace) -> TaskSpec | None:
        """That of a trace, by the first of its id, its task's id and its task's text that has one."""
        for each in (trace.trace_id, trace.task_id, trace.task.strip()):
            if each and each in self.by_id:
                self.used.add(each)
                return self.by_id[each]
        return None

    @property
    def unused(self) -> list[str]:
        """The ids of which no trace was found."""
        return [each for each in self.by_id if each not in self.used]


def read_expectations(lines: Iterable[str], *, as_csv: bool) -> Expectations:
    """Reads expected answers: CSV with a head, or JSON lines.

    `trace` or `task` (an id, or the task's text), `target` (a text; in JSON also a list of accepted ones; in CSV, lines
    of one id add up), `scorer` (a name, or an object with its options; `includes` if not given).
    Raises ValueError with the line.
    """
    found: dict[str, TaskSpec] = {}
    for number, row in _rows(lines, as_csv=as_csv):
        try:
            key = next((str(row[name]).strip() for name in _IDS if row.get(name) not in {None, ""}), "")
            if not key:
                raise ValueError("neither `trace` nor `task` says of which trace this is the expected answer")
            task = expected_task(row.get("target") or None, _scorer(row.get("scorer")))
            if isinstance(task.scorer, ModelScorer):
                raise ValueError("the scorer 'model' is not code: `concord evaluate --rejudge` has a model judge")
            if (known := found.get(key)) is not None:
                if not as_csv or known.scorer != task.scorer:
                    raise ValueError(f"a second line for {key!r}")
                task = expected_task([*(known.target or ()), *(task.target or ())], task.scorer)
        except ValueError as error:
            raise ValueError(f"{number}: {error}") from error
        found[key] = task
    if not found:
        raise ValueError("1: it has no expected answer")
    return Expectations(found)


def _rows(lines: Iterable[str], *, as_csv: bool) -> Iterator[tuple[int, dict[str, object]]]:
    if as_csv:
        reader = csv.DictReader(lines)
        for row in reader:
            yield reader.line_num, {str(name).strip().lower(): value for name, value in row.items()}
        return
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{number}: not JSON") from error
            if not isinstance(value, dict):
                raise ValueError(f"{number}: not an object")
            yield number, value


def _scorer(written: object) -> object:
    """A scorer; in CSV, one with options is JSON."""
    text = written.strip() if isinstance(written, str) else ""
    return json.loads(text) if text.startswith("{") else text or (None if isinstance(written, str) else written)


def graded(trace: Trace, expectations: Expectations | None = None) -> Trace:
    """The trace with the grade of its answer.

    What a file expects counts before what the trace declares, and an expected answer before a judgment.
    """
    task = None if expectations is None else expectations.of(trace)
    if task is not None:
        return replace(trace, expected=None, grading=_grading(trace, task))
    if trace.expected is not None:
        return replace(trace, expected=None, grading=_grading(trace, trace.expected, BY_TRACE))
    return trace


def _grading(trace: Trace, task: TaskSpec, reason: str | None = None) -> Grading:
    """`reason`: a remark. Without an answer, of a run that did not fail, nobody knows the outcome."""
    scorer = None if task.scorer is None else task.scorer.name
    if not trace.answer and not trace.failure:
        return Grading(value=None, source="nobody", scorer=scorer, reason=NO_ANSWER)
    state: Literal["failed", "completed"] = "failed" if trace.failure else "completed"
    answer = AgentAnswer(agent=TEAM, state=state, text=trace.answer or None, error=trace.failure or None)
    outcome = TrialOutcome(
        trial_id="trial-1", state=state, error=None, answer=None, time_used=trace.duration_s, answers=[answer]
    )
    grading = grade_answers(task, [TEAM], outcome)
    if grading is None:
        return Grading(value=None, source="nobody", scorer=scorer, reason="only `--rejudge` has a model judge")
    return grading if grading.value is None else grading.model_copy(update={"reason": reason})
