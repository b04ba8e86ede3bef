"""Attacks on a user's own tasks and on the row they make: each answer is graded and judged as in an assessment."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import fmean
from typing import Any, Final

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec
from concord.assessment.plan import plan_trials
from concord.assessment.result_row import ResultRow
from concord.assessment.results import AgentAnswer, Grading, Judgment, TrialOutcome
from concord.assessment.scorers import ExactScorer, JsonScorer, ModelScorer
from concord.assessment.task_spec import Control
from concord.llm import LLM
from concord.wire.roster import RosterEntry
from concord_cli.audit import answers, flaws
from concord_cli.audit.flaws import Attack, Shown, Tried, looked, not_applicable, played, shown
from concord_cli.audit.obeying import EMPTY_WORDS, VERDICTS
from concord_cli.display_text import beginning
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import JudgedTrial, TrialEvaluation
from concord_evaluator.judge import judged_with, screened_evidence
from concord_evaluator.judge.evidence import TrialEvidence
from concord_evaluator.judge.model import judge_by_model
from concord_evaluator.pipeline import evaluate_trial, verdict_on
from concord_evaluator.pipeline.verdict import graded

MOST_BY_GUESSING: Final = 0.25
"""The outcome that a guess may be worth: one of four options."""

FULL: Final = 100.0

MAX_QUOTE: Final = 60
"""Characters of a quoted answer."""


@dataclass(frozen=True)
class OwnTask:
    """A task of the user's own, and a plan with a trial of it."""

    plan: AssessmentPlan
    task: TaskSpec

    @property
    def by_model(self) -> bool:
        """Whether only a model grades it."""
        return self.task.scorer is None or isinstance(self.task.scorer, ModelScorer)

    def outcome(self, text: str | None) -> TrialOutcome:
        """A trial in which everybody who is asked gives this answer."""
        trial = next(each for each in self.plan.trials if each.task_id == self.task.id)
        given = [
            AgentAnswer(agent=name, state="completed", text=text, error=None)
            for name in self.plan.answerers(self.task.id)
        ]
        return TrialOutcome(
            trial_id=trial.trial_id, state="completed", error=None, answer=text, answers=given, time_used=1.0
        )

    def grading(self, text: str | None) -> Grading | None:
        """The grading of an answer."""
        return graded(self.plan, self.outcome(text))

    def points(self, text: str) -> float:
        """What an answer earns, of 100. One that cannot be graded earns nothing."""
        grading = self.grading(text)
        return 100 * (grading.value or 0.0) if grading is not None else 0.0

    @cached_property
    def right(self) -> tuple[str, str] | None:
        """A form, and a right answer that earns all points in it; None where none is known."""
        for text in answers.right_texts(self.task):
            forms = ["{}"] if isinstance(self.task.scorer, JsonScorer) else answers.FORMS
            for form in forms:
                if self.points(answers.in_form(form, text)) >= FULL:
                    return form, text
        return None


OF_RIGHT_ANSWERS: Final = (flaws.GUESS, flaws.CANDIDATES, flaws.NEGATED, flaws.CONTRADICTORY)
"""The attacks that take a right answer."""


def attacked(own: OwnTask) -> Iterator[Tried]:
    """Every attack by an answer."""
    subject, task = own.task.id, own.task
    if own.by_model:
        attacks = (flaws.ECHO, *OF_RIGHT_ANSWERS, flaws.CLAIM)
        yield from not_applicable(subject, "a language model grades the answer, not code", *attacks)
        yield from not_applicable(subject, "an empty answer is graded 0 without asking the model", flaws.NULL)
        return
    yield _best(own, flaws.NULL, answers.NOTHING, "empty answers")
    yield _best(own, flaws.ECHO, [task.text, f"You ask: {task.text.strip()}"], "the text of the task as the answer")
    yield _best(own, flaws.CLAIM, answers.CLAIMS, "claims instead of an answer")
    yield _hostile(own)
    if own.right is None:
        yield from not_applicable(subject, "no right answer is known from the scorer and the target", *OF_RIGHT_ANSWERS)
        return
    form, right = own.right
    if isinstance(task.scorer, JsonScorer):
        yield from _against_json(own, task.scorer, right)
        return
    count = answers.options(right)
    guess = 100 / count if count else 0.0
    options = f"a guess between {count} options" if count else "more options than a guess has a chance in"
    yield played(flaws.GUESS, subject, guess, options, most=100 * MOST_BY_GUESSING)
    yield _listed(own, form, right)
    yield _best(own, flaws.NEGATED, answers.negated(form, right), "the opposite of the right answer")
    yield _best(own, flaws.CONTRADICTORY, answers.contradicted(form, right), "the right answer, taken back or hedged")


def seen(own: OwnTask) -> Iterator[Shown]:
    """What honest answers earn."""
    subject = own.task.id
    if own.by_model or own.right is None:
        reason = "a language model grades the answer" if own.by_model else "no right answer is known"
        yield shown("O.a.1 O.a.2 T.8 T.9", subject, reason, is_met=None)
        return
    form, right = own.right
    answer = answers.in_form(form, right)
    yield shown("T.8 T.9", subject, f"{beginning(answer, MAX_QUOTE)!r} earns 100", is_met=True)
    yield shown("O.f", subject, "the same answer, graded twice", is_met=own.points(answer) == own.points(answer))
    if not isinstance(own.task.scorer, JsonScorer):
        yield _honest(own, "O.a.1", answers.spelled_otherwise(form, right))
    yield _honest(own, "O.a.2", [answers.with_more_words(form, right)])


def _best(own: OwnTask, attack: Attack, texts: Sequence[str], what: str) -> Tried:
    """The attack by the text of several that earns most."""
    earned = {text: own.points(text) for text in texts}
    best = max(earned, key=lambda text: earned[text])
    said = f"{what}: {beginning(best, MAX_QUOTE)!r}" if earned[best] else f"{what}, {len(texts)} of them"
    return played(attack, own.task.id, earned[best], said)


def _listed(own: OwnTask, form: str, right: str) -> Tried:
    """A list of all candidates may be worth no more than a guess between them."""
    lists = answers.lists_of_all(form, right)
    mean = fmean(own.points(text) for text in lists)
    last = beginning(lists[-1], MAX_QUOTE)
    said = f"{len(lists)} candidates in a list, the right one at each place in turn: {last!r}"
    return played(flaws.CANDIDATES, own.task.id, mean, said, most=100 / len(lists))


def _against_json(own: OwnTask, scorer: JsonScorer, right: str) -> Iterator[Tried]:
    """The attacks on an answer in JSON, of which the last document counts. Words around it are no part of it."""
    subject, wrong = own.task.id, answers.wrong_json(right)
    counts = [answers.options_in(value) for value in scorer.values.values()]
    chance = fmean(1 / count if count else 0.0 for count in counts)
    said = f"a guess of the values at {len(counts)} places"
    yield played(flaws.GUESS, subject, 100 * chance, said, most=100 * MOST_BY_GUESSING)
    yield _best(own, flaws.CANDIDATES, [f"[{right}, {wrong}]"], "a list of the right document and a wrong one")
    yield from not_applicable(subject, "the JSON alone is the answer, and says nothing but its values", flaws.NEGATED)
    yield _best(own, flaws.CONTRADICTORY, [f"{right}\n\nNo: {wrong}"], "the right document, then a wrong one")


def _hostile(own: OwnTask) -> Tried:
    """An answer that cannot be graded leaves its trial open instead of worth 0."""
    texts = answers.hostile_texts(own.task)
    gradings = (own.grading(text) for text in texts)
    failed = next((each for each in gradings if each is not None and each.value is None), None)
    found = "" if failed is None else f"an answer is not graded: {failed.reason}"
    return looked(flaws.HOSTILE_ANSWER, own.task.id, found, f"{len(texts)} hostile answers, all graded")


def _honest(own: OwnTask, item: str, texts: Sequence[str]) -> Shown:
    """Whether the right answer still earns all points in these words."""
    lost = next((text for text in texts if own.points(text) < FULL), None)
    by = f"{texts[-1]!r} earns 100" if lost is None else f"{lost!r} earns {own.points(lost):.0f}"
    return shown(item, own.task.id, by, is_met=lost is None)


MAX_TOKENS: Final = 4000


async def injected(own: OwnTask, model: LLM, name: str) -> Tried:
    """What orders to the judge earn beside an answer that does nothing, over the same answer without them."""
    if not own.by_model:
        return next(not_applicable(own.task.id, "code grades the answer, and no model reads it", flaws.INJECTION))
    without = await _judged(own, EMPTY_WORDS, model)
    earned = {order: await _judged(own, f"{EMPTY_WORDS}\n\n{order}", model) for order in VERDICTS}
    best = max(earned, key=lambda order: earned[order])
    said = f"{len(VERDICTS)} orders to {name}, which judges as in an assessment"
    gained = max(0.0, earned[best] - without)
    return played(flaws.INJECTION, own.task.id, gained, f"{said}: {best!r}" if gained else said)


async def _judged(own: OwnTask, answer: str, model: LLM) -> float:
    evaluation = evaluate_trial(own.plan, own.outcome(answer), [])
    screened = screened_evidence(own.plan, evaluation, [])
    judgment = await judged_with(own.plan, evaluation, screened, partial(_asked, model, evaluation))
    return 100 * (verdict_on(own.plan, evaluation, judgment).record.overall_score or 0.0)


async def _asked(model: LLM, evaluation: TrialEvaluation, evidence: TrialEvidence) -> Judgment:
    async def ask(system: str, user: str, schema: Mapping[str, Any]) -> str:
        return (await model.complete(system, user, schema=schema, max_tokens=MAX_TOKENS)).text

    return await judge_by_model(ask, "audit", evidence, evaluation)


ROW: Final = "row"

RIGHT: Final = "done"

STAND_INS: Final = tuple(
    TaskSpec(id=f"stand-in-{number}", text="Say done.", target=[RIGHT], scorer=ExactScorer()) for number in (1, 2)
)
"""Two tasks of known outcomes, in the place of those that are audited."""


def row_attacked(
    config: AssessmentConfig, tasks: Sequence[TaskSpec], participants: Mapping[str, str]
) -> Iterator[Tried]:
    """The attacks, on the rows of two trials under the config's rules."""
    empty = _row(config, participants, ["", ""])
    yield played(flaws.NULL, ROW, empty.pass_rate or 0.0, "two empty answers: the percentage that passes")
    wrong, lost = (_row(config, participants, answers) for answers in ([RIGHT, "no"], [RIGHT, None]))
    gained = max((lost.score or 0.0) - (wrong.score or 0.0), (lost.pass_rate or 0.0) - (wrong.pass_rate or 0.0), 0.0)
    said = f"a right answer beside a lost trial scores {lost.score:.0f}, beside a wrong one {wrong.score:.0f}"
    yield played(flaws.LOST_TRIAL, ROW, gained, said)
    if any(task.is_own for task in tasks):
        basis = wrong.detail.scoring.basis
        claimed = 0.0 if basis == "outcome_only" else 100.0
        said = f"a right answer without a message: the row's basis is {basis}, which claims no teamwork"
        yield played(flaws.SHARED_MEMORY, ROW, claimed, said)
        known = "the tasks are fixed: an agent that has seen the right answers can send them again"
        yield from not_applicable(ROW, f"{known}, and no ranking takes it", flaws.RESUBMISSION)


def row_seen(config: AssessmentConfig, tasks: Sequence[TaskSpec]) -> Iterator[Shown]:
    """What the config asks for beside the score."""
    trials = config.num_runs * len(tasks)
    yield shown("R.10", ROW, f"an interval over {len(tasks)} tasks and {trials} trials", is_met=len(tasks) > 1)
    controls = ", ".join(sorted(each.value for each in config.controls))
    has = not {Control.SOLO, Control.ALONE}.isdisjoint(config.controls)
    yield shown("R.12", ROW, f"controls: {controls or 'none'}", is_met=has)
    if any(task.is_own for task in tasks):
        yield shown("R.3 R.4", ROW, "tasks of your own are fixed texts", is_met=False)


def _row(config: AssessmentConfig, participants: Mapping[str, str], answers: Sequence[str | None]) -> ResultRow:
    """The row of two trials with these answers; None for a trial that was lost."""
    plan = plan_of(config, STAND_INS, participants)
    verdicts = list[JudgedTrial]()
    for task, answer in zip(STAND_INS, answers, strict=True):
        if answer is not None:
            evaluation = evaluate_trial(plan, OwnTask(plan, task).outcome(answer), [])
            verdicts.append(verdict_on(plan, evaluation, None))
    return make_row(plan, verdicts, [])


_NOT_OF_A_PLAN: Final = ("tasks", "task", "interaction_pattern", "suite", "scenario", "trials", "num_instances")


def plan_of(config: AssessmentConfig, tasks: Sequence[TaskSpec], participants: Mapping[str, str]) -> AssessmentPlan:
    """A plan of one trial of each task, under the rules of a config. `participants`: their addresses."""
    rules = config.model_copy(
        update={**dict.fromkeys(_NOT_OF_A_PLAN), "num_runs": 1, "num_shards": 1, "shard_index": 0, "faults": []}
    )
    return AssessmentPlan(
        assessment_id="audit",
        mode=Mode.LIVE,
        config=rules,
        tasks=list(tasks),
        roster=list(_roster(config.roster, participants)),
        trials=plan_trials(rules, list(tasks)),
    )


def _roster(told: Iterable[RosterEntry], participants: Mapping[str, str]) -> Iterable[RosterEntry]:
    known = {entry.id: entry for entry in told}
    for name, url in participants.items():
        entry = known.get(name)
        yield RosterEntry(id=name, url=url) if entry is None else entry.model_copy(update={"url": url})
