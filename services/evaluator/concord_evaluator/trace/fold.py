"""Folding: reports in any order, any number of times, into what is known of each step."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from concord.reports import Report, digest
from concord.steps import InteractionStep
from concord_evaluator.trace.records import StepKey, StepRecord, Telling
from concord_evaluator.trace.texts import RequestTexts


@dataclass(frozen=True, slots=True)
class FoldedTrace:
    """Every step that stands, the tellings it stands on (sorted by reporter), and how many did not come to stand.

    `texts`: a sample of what was asked, by the digests of the requests, of all steps whether or not they stand.
    """

    records: dict[StepKey, StepRecord]
    tellings: dict[StepKey, tuple[Telling, ...]]
    texts: dict[str, str]
    duplicate: int
    conflicting: int


def fold(reports: Iterable[Report]) -> FoldedTrace:
    """Folds reports one by one, so that a trace is never held in its parsed form.

    Under one (trace id, reporter, step id), the same digest again is a duplicate. Different digests conflict: none of
    them stands, but what we saw ourselves, else the only one that is authenticated, which nobody else can have told.
    The result depends neither on the order of the reports nor on how often each came (but for the count of duplicates).
    """
    records: dict[StepKey, StepRecord] = {}
    told: dict[tuple[StepKey, str], Telling] = {}
    texts = RequestTexts()
    duplicate = 0
    for report in reports:
        for key, step, carrier in _unnested(report):
            telling = Telling.of(report, carrier)
            known = told.setdefault((key, report.reporter), telling)
            if known is not telling:
                known.join(telling)
                duplicate += 1
            elif key not in records:
                record = records[key] = StepRecord.of(step)
                if record.request_digest is not None:
                    texts.add(record.request_digest, step)
    return _settled(records, told, texts.sample(), duplicate)


def _unnested(report: Report) -> Iterator[tuple[StepKey, InteractionStep, StepKey | None]]:
    """The report's step and all steps nested in it, each with the call in whose answer it came."""
    pending: list[tuple[InteractionStep, str, StepKey | None]] = [(report.step, report.digest, None)]
    while pending:
        step, name, carrier = pending.pop()
        key = StepKey(step.trace_id, step.step_id, name)
        yield key, step, carrier
        call = step.agent_call
        if call is not None and call.response_trace is not None:
            pending.extend((nested, digest(nested), key) for nested in call.response_trace.steps)


def _settled(
    records: dict[StepKey, StepRecord], told: dict[tuple[StepKey, str], Telling], texts: dict[str, str], duplicate: int
) -> FoldedTrace:
    variants: dict[tuple[str, str, str], list[tuple[StepKey, Telling]]] = {}
    for (key, reporter), telling in told.items():
        variants.setdefault((key.trace_id, reporter, key.step_id), []).append((key, telling))
    standing: dict[StepKey, tuple[Telling, ...]] = {}
    for rivals in variants.values():
        for key, telling in _standing(rivals):
            standing[key] = (*standing.get(key, ()), telling)
    tellings = {key: tuple(sorted(group, key=lambda telling: telling.reporter)) for key, group in standing.items()}
    conflicting = len(told) - sum(len(group) for group in tellings.values())
    return FoldedTrace({key: records[key] for key in tellings}, tellings, texts, duplicate, conflicting)


def _standing(rivals: list[tuple[StepKey, Telling]]) -> list[tuple[StepKey, Telling]]:
    if len(rivals) == 1:
        return rivals
    if observed := [rival for rival in rivals if rival[1].observed]:
        return observed
    authenticated = [rival for rival in rivals if rival[1].authenticated]
    return authenticated if len(authenticated) == 1 else []
