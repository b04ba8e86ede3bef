"""The reports that the acts of a trace are made of, and the observations in these acts, each without needless work."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

from concord.assessment.results import Observation
from concord.trace.decoding import reports_of
from concord.trace.report import Report, ReportBatch
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.observations import FINDERS, Act, Deed
from concord_evaluator.observations.acts import MAX_ACTS
from concord_evaluator.observations.finders import (
    MAX_FOUND,
    Finder,
    changed_values,
    corrections_in,
    ignored_corrections,
)
from concord_evaluator.trace.bodies import unpacked
from concord_evaluator.trace.lean_steps import named_steps

_DIGIT: Final = re.compile(r"\d")

_NAMED_VALUE: Final = re.compile(r"(?:[:=]| is | are | was )\s*\W?-?\d")
"""What any text holds that gives a value under a name."""


def _corrects(text: str) -> bool:
    return next(corrections_in(text), None) is not None


def _names_a_value(text: str) -> bool:
    return _NAMED_VALUE.search(text) is not None


_OF_VALUES: Final[Mapping[Finder, Callable[[str], bool]]] = {
    ignored_corrections: _corrects,
    changed_values: _names_a_value,
}
"""Finders that read only texts with a digit, and whether they may start from a text that an agent tells another."""


def reports_of_acts(batches: Iterable[ReportBatch]) -> Iterator[Report]:
    """The reports of which `acts_of` makes its acts, in their order.

    Once there are as many steps as it reads, these are only those of the gateway about the same steps. No other steps
    are decoded then.
    """
    read: set[str] = set()
    for batch in batches:
        if len(read) < MAX_ACTS:
            for report in reports_of(batch):
                if len(read) < MAX_ACTS or report.step.step_id in read:
                    read.add(report.step.step_id)
                    yield report
        elif batch.reporter == GREEN_AGENT:
            for step in named_steps(unpacked(batch.body), read):
                yield Report(step, batch.reporter, batch.authenticated, batch.channel, batch.received_at)


def observations_in(acts: Sequence[Act]) -> list[Observation]:
    """The same as `observe`. To search long texts for values is most of what all finders take."""
    with_values = [act for act in acts if _DIGIT.search(act.text)]
    told = {act.text for act in with_values if act.deed in {Deed.MESSAGE, Deed.ANSWER}}  # messages to many are alike
    found = list[Iterable[Observation]]()
    for find in FINDERS:
        may_start = _OF_VALUES.get(find)
        if may_start is None:
            found.append(find(acts))
        elif any(map(may_start, told)):
            found.append(find(with_values))
    return list(chain.from_iterable(islice(each, MAX_FOUND) for each in found))
