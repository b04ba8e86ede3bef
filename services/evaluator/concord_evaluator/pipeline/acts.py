"""The reports that the acts of a trace are made of, and the observations in these acts, each without needless work."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final

from concord.assessment.observations import Observation
from concord.trace.decoding import reports_of
from concord.trace.report import Report, ReportBatch
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.observations import FINDERS, Act
from concord_evaluator.observations.acts import MAX_ACTS
from concord_evaluator.observations.finders import MAX_FOUND
from concord_evaluator.observations.observed import Finder
from concord_evaluator.observations.statements import changed_values, ignored_corrections
from concord_evaluator.trace.bodies import unpacked
from concord_evaluator.trace.lean_steps import named_steps

_OF_VALUES: Final[frozenset[Finder]] = frozenset({changed_values, ignored_corrections})
"""Finders that read only texts with a digit. To search long texts for values is most of what all finders take."""

_DIGIT: Final = re.compile(r"\d")


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
    """The same as `observe`."""
    with_values = [act for act in acts if _DIGIT.search(act.text)]
    found = (find(with_values if find in _OF_VALUES else acts) for find in FINDERS)
    return list(chain.from_iterable(islice(each, MAX_FOUND) for each in found))
