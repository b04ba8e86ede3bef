"""Measures of diagnosis on one corpus: against outcomes, and against labels. Corpora are never pooled."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from statistics import fmean
from typing import Final

from msgspec.structs import replace

from concord.assessment.observations import Observation, ObservationKind
from concord.trace.effects import EffectKind
from concord.wire.roster import Roster
from concord_cli.evaluate.inputs import find_inputs, traces_in
from concord_evaluator.diagnosis import TraceDiagnosis, diagnose
from concord_evaluator.formats import Trace
from concord_evaluator.observations import Act, acts_of, observe, reading_order
from lab.diagnosis import baselines
from lab.diagnosis.labels import Label

EFFECTS: Final = frozenset({ObservationKind.CLASHING_EDITS, ObservationKind.DELIVERED_NOTHING})
"""The observations of the rule that separates outcomes of teams with separate patches."""


@dataclass(frozen=True, slots=True)
class Case:
    """A trace of a corpus with its acts and its diagnosis."""

    trace: Trace
    acts: Sequence[Act]
    found: TraceDiagnosis

    @property
    def kinds(self) -> frozenset[ObservationKind]:
        """What was observed."""
        return frozenset(each.kind for each in self.found.observations)


def cases_in(folder: Path) -> list[Case]:
    """The traces of a corpus."""
    traces = (trace for path in find_inputs([folder]).paths for trace in traces_in(path, None))
    return [Case(trace, acts_of(trace.reports(), Roster(trace.roster)), diagnose(trace)) for trace in traces]


def area_under_curve(failed: Sequence[bool], succeeded: Sequence[bool]) -> float:
    """How often a failure is flagged and a success is not, ties counting half (the area under the ROC curve)."""
    return fmean((one - other + 1) / 2 for one, other in product(failed, succeeded))


def against_outcomes(cases: Sequence[Case]) -> Iterator[tuple[str, str]]:
    """What is observed in failures and in successes, and how often a success is accused by a cause."""
    failed = [case for case in cases if case.trace.task_success == 0]
    succeeded = [case for case in cases if case.trace.task_success == 1]
    yield "failures, successes", f"{len(failed)}, {len(succeeded)}"
    if not failed or not succeeded:
        return
    for kind in ObservationKind:
        shares = [fmean(kind in case.kinds for case in group) for group in (failed, succeeded)]
        if any(shares):
            yield f"observed: {kind}", " / ".join(f"{share:.3f}" for share in shares)
    flags = [[bool(EFFECTS & case.kinds) for case in group] for group in (failed, succeeded)]
    yield f"observed: {' or '.join(sorted(EFFECTS))}", " / ".join(f"{fmean(each):.3f}" for each in flags)
    yield "AUC of that (random .500)", f"{area_under_curve(*flags):.3f}"
    yield "the same within equal tasks", f"{_within_tasks(failed, succeeded):.3f}"
    if merges := [_foretold(case) for case in cases if any(part.merged is not None for part in case.trace.parts)]:
        yield "merges whose conflicts touching edits foretell", f"{sum(merges)} of {len(merges)}"
    for certainty in ("proven", "observed"):
        named = fmean(any(cause.certainty == certainty for cause in case.found.causes) for case in failed)
        yield f"failures with a cause, {certainty}", f"{named:.3f}"
    accused = fmean(bool(case.found.causes) for case in succeeded)
    yield "successes accused by a cause (goal ≤ .050)", f"{accused:.3f}"


def _foretold(case: Case) -> bool:
    """Whether the agents' edits touch, with different contents, just where the graders' merge had a conflict."""
    edits = [act for act in case.acts if act.effect is not None and act.effect.kind is EffectKind.EDITED]
    conflict = any(part.merged is False for part in case.trace.parts)
    return conflict == any(_clash(one, other) for one, other in combinations(edits, 2))


def _clash(one: Act, other: Act) -> bool:
    a, b = one.effect, other.effect
    if a is None or b is None or a.lines is None or b.lines is None or one.agent == other.agent:
        return False
    return a.artifact == b.artifact and a.digest != b.digest and a.lines.touches(b.lines)


def _within_tasks(failed: Sequence[Case], succeeded: Sequence[Case]) -> float:
    """The area over pairs of a failure and a success at the same task."""
    by_task = defaultdict[str, tuple[list[bool], list[bool]]](lambda: ([], []))
    for place, group in enumerate((failed, succeeded)):
        for case in group:
            by_task[case.trace.task][place].append(bool(EFFECTS & case.kinds))
    pairs = [each for lost, won in by_task.values() for each in product(lost, won)]
    return fmean((one - other + 1) / 2 for one, other in pairs)


def against_labels(cases: Sequence[Case], labels: Sequence[Label]) -> Iterator[tuple[str, str]]:
    """The reading order against people's labels of the decisive step and its agent, beside the baselines."""
    by_trace = {label.trace_id: label for label in labels}
    labelled = [(case, by_trace[case.trace.trace_id]) for case in cases if case.trace.trace_id in by_trace]
    orders = {
        "order of time": [baselines.chronological(case.acts) for case, _ in labelled],
        "reading order": [_reading(case) for case, _ in labelled],
    }
    steps = [len(order) for order in orders["order of time"]]
    yield "labelled traces", str(len(labelled))
    random = fmean(map(baselines.expected_random_rank, steps))
    firsts = [baselines.expected_random_first(steps, first) for first in (1, 3)]
    yield "labelled step, random order", _ranks(random, *firsts)
    for name, each in orders.items():
        ranks = [
            order.index(label.step_id) if label.step_id in order else len(order)
            for order, (_, label) in zip(each, labelled, strict=True)
        ]
        shares = (fmean(rank < first for rank in ranks) for first in (1, 3))
        yield f"labelled step, {name}", _ranks(fmean(ranks), *shares)
    for name, guess in _GUESSES.items():
        right = fmean(guess(case.acts).get(label.agent, 0.0) for case, label in labelled)
        yield f"labelled agent, {name}", f"{right:.3f}"
    named = [reading_order(case.acts, case.trace.task, case.found.observations, 1) for case, _ in labelled]
    right = fmean(first[0].agent == label.agent for first, (_, label) in zip(named, labelled, strict=True))
    yield "labelled agent, that of the first step to read", f"{right:.3f}"


_GUESSES: Final[Mapping[str, baselines.Guess]] = {
    "random": baselines.random_agent,
    "first but lead": baselines.first_but_lead,
    "last but lead": baselines.last_but_lead,
    "most characters": baselines.most_characters,
}


def _ranks(before: float, first: float, three: float) -> str:
    return f"{before:.2f} steps before it; first {first:.3f}, among three {three:.3f}"


def _reading(case: Case) -> list[str]:
    order = reading_order(case.acts, case.trace.task, case.found.observations, len(case.acts))
    return [each.step_id for each in order]


def changed_by_renaming(cases: Sequence[Case]) -> int:
    """The traces in which other names of the agents change what is observed, or the order of reading."""
    return sum(_changes(case) for case in cases)


def _changes(case: Case) -> bool:
    agents = sorted({act.agent for act in case.acts})
    names = dict(zip(agents, (f"agent {number}" for number in range(len(agents), 0, -1)), strict=True))
    renamed = [replace(act, agent=names[act.agent], to=names.get(act.to, act.to)) for act in case.acts]
    found = observe(renamed)
    order = [each.step_id for each in reading_order(renamed, case.trace.task, found, len(renamed))]
    return _facts(found, {}) != _facts(case.found.observations, names) or order != _reading(case)


def _facts(found: Sequence[Observation], names: Mapping[str, str]) -> set[tuple[object, ...]]:
    return {
        (each.kind, frozenset(names.get(agent, agent) for agent in each.agents), names.get(each.about, each.about),
         each.count, frozenset(each.steps))
        for each in found
    }  # fmt: skip
