"""Attacks on a user's own tasks: each answer is graded as in an assessment, by the task's own scorer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Final

from concord.assessment import AssessmentPlan, TaskSpec
from concord.assessment.results import AgentAnswer, Grading, TrialOutcome
from concord.assessment.scorers import JsonScorer, ModelScorer
from concord_cli.audit import answers, flaws
from concord_cli.audit.flaws import Attack, Shown, Status, Tried, looked, not_applicable, played
from concord_cli.display_text import beginning
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


def attacked(own: OwnTask) -> Iterator[Tried]:
    """Every attack by an answer."""
    subject, task = own.task.id, own.task
    if own.by_model:
        for attack in (flaws.ECHO, flaws.GUESS, flaws.CANDIDATES, flaws.NEGATED, flaws.CONTRADICTORY, flaws.CLAIM):
            yield not_applicable(attack, subject, "a language model grades the answer, not code")
        yield not_applicable(flaws.NULL, subject, "an empty answer is graded 0 without asking the model")
        return
    yield _best(own, flaws.NULL, answers.NOTHING, "empty answers")
    yield _best(own, flaws.ECHO, [task.text, f"You ask: {task.text.strip()}"], "the text of the task as the answer")
    yield _best(own, flaws.CLAIM, answers.CLAIMS, "claims instead of an answer")
    yield _hostile(own)
    if own.right is None:
        for attack in (flaws.GUESS, flaws.CANDIDATES, flaws.NEGATED, flaws.CONTRADICTORY):
            yield not_applicable(attack, subject, "no right answer is known from the scorer and the target")
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
        yield from (Shown(item, subject, Status.NOT_KNOWN, reason) for item in ("O.a.1", "O.a.2", "T.8", "T.9"))
        return
    form, right = own.right
    shown = f"{beginning(answers.in_form(form, right), MAX_QUOTE)!r} earns 100"
    yield from (Shown(item, subject, Status.MET, shown) for item in ("T.8", "T.9"))
    same = own.points(answers.in_form(form, right)) == own.points(answers.in_form(form, right))
    yield Shown("O.f", subject, Status.MET if same else Status.NOT_MET, "the same answer, graded twice")
    if not isinstance(own.task.scorer, JsonScorer):
        yield _honest(own, "O.a.1", answers.spelled_otherwise(form, right))
    yield _honest(own, "O.a.2", [answers.with_more_words(form, right)])


def _best(own: OwnTask, attack: Attack, texts: Sequence[str], what: str) -> Tried:
    """The attack by the text of several that earns most."""
    earned = {text: own.points(text) for text in texts}
    best = max(earned, key=lambda text: earned[text])
    shown = f"{what}: {beginning(best, MAX_QUOTE)!r}" if earned[best] else f"{what}, {len(texts)} of them"
    return played(attack, own.task.id, earned[best], shown)


def _listed(own: OwnTask, form: str, right: str) -> Tried:
    """A list of all candidates may be worth no more than a guess between them."""
    lists = answers.lists_of_all(form, right)
    mean = fmean(own.points(text) for text in lists)
    shown = (
        f"{len(lists)} candidates in a list, the right one at each place in turn: {beginning(lists[-1], MAX_QUOTE)!r}"
    )
    return played(flaws.CANDIDATES, own.task.id, mean, shown, most=100 / len(lists))


def _against_json(own: OwnTask, scorer: JsonScorer, right: str) -> Iterator[Tried]:
    """The attacks on an answer in JSON, of which the last document counts. Words around it are no part of it."""
    subject, wrong = own.task.id, answers.wrong_json(right)
    counts = [answers.options_in(value) for value in scorer.values.values()]
    chance = fmean(1 / count if count else 0.0 for count in counts)
    shown = f"a guess of the values at {len(counts)} places"
    yield played(flaws.GUESS, subject, 100 * chance, shown, most=100 * MOST_BY_GUESSING)
    yield _best(own, flaws.CANDIDATES, [f"[{right}, {wrong}]"], "a list of the right document and a wrong one")
    yield not_applicable(flaws.NEGATED, subject, "the JSON alone is the answer, and says nothing but its values")
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
    if lost is None:
        return Shown(item, own.task.id, Status.MET, f"{texts[-1]!r} earns 100")
    return Shown(item, own.task.id, Status.NOT_MET, f"{lost!r} earns {own.points(lost):.0f}")
