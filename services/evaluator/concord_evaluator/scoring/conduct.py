"""Conduct: how many of the calls that the gateway carried were useful, and how many were wasted."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from concord.assessment.results import MetricParameter, Record
from concord.trace.vocabulary import is_figure, words_in
from concord_evaluator.trace import MAX_CARRIED_TEXT, CarriedCalls

TOLERANCE: Final = 5
"""The number of wasted calls that costs a quarter of the score (`k`). It does not grow with the team."""

WORST: Final = 0.5
"""The conduct of a team without a useful call, and the limit as wasted calls increase."""


class Conduct(Record):
    """The calls that the gateway carried between participants, by result. `value` is 1 for a lone participant.

    `failed`: attempts that failed, whether or not a later one succeeded. `bought_nothing`: attempts that succeeded, but
    had no word that was new to their reader. `unread`: attempts beyond the limit of text that is read; they have no
    new words.
    """

    value: float
    reason: str | None
    participants: int
    carried: int
    failed: int
    bought_nothing: int
    unread: int = 0

    @property
    def inputs(self) -> list[MetricParameter]:
        """The counts that the value was made from, as a part of the score shows them; `unread` only if not 0."""
        counts = {
            "participants": self.participants,
            "k": TOLERANCE,
            "carried": self.carried,
            "failed": self.failed,
            "bought_nothing": self.bought_nothing,
        }
        if self.unread:
            counts["unread"] = self.unread
        return [MetricParameter(name=name, value=str(count)) for name, count in counts.items()]


def conduct_of(
    carried: CarriedCalls,
    participants: Sequence[str],
    task: str,
    asked: Iterable[str],
    answers: Iterable[str],
    known_figures: Iterable[str] = (),
) -> Conduct:
    """Rates the carried calls of a trial: 0.5 + 0.5 * k / (k + w), where w calls failed or had nothing new.

    A call is useful if its request or its answer has words that its reader has not met before. `asked`: the
    participants who were given the `task`; `answers`: the graded answers. Without a useful call, the team was not seen
    to work together, and its conduct is `WORST`. A lone participant has nobody to call and so wastes no call.
    """
    figures = frozenset(word for text in (task, *answers, *known_figures) for word in words_in(text) if is_figure(word))
    readers = _Readers(participants, figures)
    given = set(words_in(task))
    for agent in asked:
        readers.add(agent, given)
    useful_ids: set[str] = set()
    for delivery in carried.deliveries:
        words = {word for text in delivery.texts for word in words_in(text)}
        readers.add(delivery.sender, words)
        if readers.deliver(delivery.receiver, words):
            useful_ids.add(delivery.step_id)
    failed = sum(carried.calls.values())
    useful = sum(not failure and step_id in useful_ids for step_id, failure in carried.calls.items())
    useless = len(carried.calls) - failed - useful
    value, reason = _value(len(participants), len(carried.calls), useful, failed + useless)
    return Conduct(
        value=value,
        reason=_unread_reason(carried.unread) if carried.unread else reason,
        participants=len(participants),
        carried=len(carried.calls),
        failed=failed,
        bought_nothing=useless,
        unread=carried.unread,
    )


def _value(participants: int, carried: int, useful: int, wasted: int) -> tuple[float, str | None]:
    if participants < 2:
        return 1.0, "a lone participant has no other participant to call"
    if not carried:
        return WORST, "not observed: the gateway carried no call between participants"
    if not useful:
        return WORST, "no carried call bought anything"
    return WORST + (1 - WORST) * TOLERANCE / (TOLERANCE + wasted), None


def _unread_reason(unread: int) -> str:
    limit = f"{MAX_CARRIED_TEXT:,}"
    return f"{unread} calls have text beyond the first {limit} characters, which is not read and counts as no news"


class _Readers:
    """The words that each participant has met so far."""

    def __init__(self, participants: Iterable[str], figures: frozenset[str]) -> None:
        self._figures = figures
        self._met: defaultdict[str, set[str]] = defaultdict(set)
        self._names = frozenset(word for name in participants for word in words_in(name))
        """Participants' names are never new: `/peers` lists them."""

    def add(self, agent: str, words: set[str]) -> None:
        """Adds words that a participant has met."""
        self._met[agent] |= words

    def deliver(self, reader: str, words: set[str]) -> bool:
        """Adds words that a reader has met. Returns whether any of them was new.

        Numbers count as new only if they occur in the task or in a graded answer, or if the task is about them.
        """
        new = words - self._met[reader]
        self._met[reader] |= new
        return any((word in self._figures or not is_figure(word)) and word not in self._names for word in new)
