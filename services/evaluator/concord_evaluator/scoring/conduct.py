"""Conduct: what a team's calls cost beside what they bought, over the calls that the gateway carried."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Final, NamedTuple

from concord.results import MetricParameter, Record
from concord.vocabulary import is_figure, words_in
from concord_evaluator.trace import CarriedCall

TOLERANCE: Final = 5
"""How many wasted calls cost a quarter of the score (`k`). A constant: more participants buy no more waste."""

WORST: Final = 0.5
"""Conduct of a team of which no call that bought anything was seen, and the limit as waste grows."""


class Conduct(Record):
    """The calls that the gateway carried between participants, by what they came to. `value` is null for a lone one.

    `failed`: attempts that failed, whether or not a later one succeeded. `bought_nothing`: attempts that succeeded, and
    told neither end anything that it had not met before.
    """

    value: float | None
    reason: str | None
    participants: int
    carried: int
    failed: int
    bought_nothing: int

    @property
    def inputs(self) -> list[MetricParameter]:
        """What the value was made from, as a part of the score shows it."""
        counts = {
            "participants": self.participants,
            "k": TOLERANCE,
            "carried": self.carried,
            "failed": self.failed,
            "bought_nothing": self.bought_nothing,
        }
        return [MetricParameter(name=name, value=str(count)) for name, count in counts.items()]


def conduct_of(
    calls: Sequence[CarriedCall],
    participants: Sequence[str],
    task: str,
    asked: Iterable[str],
    answers: Iterable[str],
) -> Conduct:
    """Rates the carried calls of a trial: 0.5 + 0.5 * k / (k + w), w counting those that failed or bought nothing.

    `asked`: the participants who were given the `task`; `answers`: the answers that are graded. Where no call bought
    anything, what the team did together was not seen, and conduct is `WORST`.
    """
    figures = frozenset(word for text in (task, *answers) for word in words_in(text) if is_figure(word))
    readers = _Readers(participants, figures)
    for agent in asked:
        readers.tell(agent, readers.content_of((task,)))
    bought = {call.step_id: False for call in calls}
    for delivery in _in_order(calls):
        content = readers.content_of(delivery.texts)
        readers.met[delivery.sender] |= content
        bought[delivery.call.step_id] |= readers.tell(delivery.receiver, content)
    failed = sum(call.failed for call in calls)
    nothing = sum(not call.failed and not bought[call.step_id] for call in calls)
    useful = len(calls) - failed - nothing
    value, reason = _value(len(participants), len(calls), useful, failed + nothing)
    return Conduct(
        value=value,
        reason=reason,
        participants=len(participants),
        carried=len(calls),
        failed=failed,
        bought_nothing=nothing,
    )


def _value(participants: int, carried: int, useful: int, wasted: int) -> tuple[float | None, str | None]:
    if participants < 2:
        return None, "a lone participant has nobody to call"
    if not carried:
        return WORST, "unseen: the gateway carried no call between participants"
    if not useful:
        return WORST, "no call that the gateway carried bought anything"
    return WORST + (1 - WORST) * TOLERANCE / (TOLERANCE + wasted), None


class _Delivery(NamedTuple):
    """A request or an answer on its way to its reader."""

    call: CarriedCall
    sender: str
    receiver: str
    texts: tuple[str, ...]


def _in_order(calls: Sequence[CarriedCall]) -> list[_Delivery]:
    """The deliveries in the order of the proxy. A failed call has no answer; its request may have been read."""
    timed: list[tuple[datetime, int, _Delivery]] = []
    for place, call in enumerate(calls):
        timed.append((call.began, place, _Delivery(call, call.caller, call.callee, call.request)))
        if not call.failed:
            timed.append((call.ended, place, _Delivery(call, call.callee, call.caller, call.answer)))
    timed.sort(key=itemgetter(0, 1))
    return [delivery for _, _, delivery in timed]


class _Readers:
    """What each participant has met so far."""

    def __init__(self, participants: Iterable[str], figures: frozenset[str]) -> None:
        self._figures = figures
        self.met: defaultdict[str, set[str]] = defaultdict(set)
        self._names = frozenset(word for name in participants for word in words_in(name))
        """The participants' names are no news: `/peers` tells everybody."""

    def tell(self, reader: str, content: set[str]) -> bool:
        """Adds content to what a reader has met. True if some of it is new to the reader."""
        new = content - self.met[reader]
        self.met[reader] |= new
        return bool(new)

    def content_of(self, texts: Iterable[str]) -> set[str]:
        """The words that may be news: content words, and the figures that stand in the task or in a graded answer."""
        words = {word for text in texts for word in words_in(text)}
        return {word for word in words if word in self._figures or not is_figure(word)} - self._names
