"""Conduct: what a team's calls cost beside what they bought, over the calls that the gateway carried."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from concord.assessment.results import MetricParameter, Record
from concord.trace.vocabulary import is_figure, words_in
from concord_evaluator.trace import MAX_CARRIED_TEXT, CarriedCalls

TOLERANCE: Final = 5
"""How many wasted calls cost a quarter of the score (`k`). A constant: more participants buy no more waste."""

WORST: Final = 0.5
"""Conduct of a team of which no call that bought anything was seen, and the limit as waste grows."""


class Conduct(Record):
    """The calls that the gateway carried between participants, by what they came to. `value` is null for a lone one.

    `failed`: attempts that failed, whether or not a later one succeeded. `bought_nothing`: attempts that succeeded, and
    told neither end anything that it had not met before. `unread`: attempts that were not read whole, since too much
    was said before them; what is not read tells nobody anything.
    """

    value: float | None
    reason: str | None
    participants: int
    carried: int
    failed: int
    bought_nothing: int
    unread: int = 0

    @property
    def inputs(self) -> list[MetricParameter]:
        """What the value was made from, as a part of the score shows it; `unread` where there are such calls."""
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
) -> Conduct:
    """Rates the carried calls of a trial: 0.5 + 0.5 * k / (k + w), w counting those that failed or bought nothing.

    `asked`: the participants who were given the `task`; `answers`: the answers that are graded. Where no call bought
    anything, what the team did together was not seen, and conduct is `WORST`.
    """
    figures = frozenset(word for text in (task, *answers) for word in words_in(text) if is_figure(word))
    readers = _Readers(participants, figures)
    given = set(words_in(task))
    for agent in asked:
        readers.note(agent, given)
    bought: set[str] = set()
    for delivery in carried.deliveries:
        words = {word for text in delivery.texts for word in words_in(text)}
        readers.note(delivery.sender, words)
        if readers.tell(delivery.receiver, words):
            bought.add(delivery.step_id)
    failed = sum(carried.calls.values())
    useful = sum(not failure and step_id in bought for step_id, failure in carried.calls.items())
    nothing = len(carried.calls) - failed - useful
    value, reason = _value(len(participants), len(carried.calls), useful, failed + nothing)
    return Conduct(
        value=value,
        reason=_beyond(carried.unread) if carried.unread else reason,
        participants=len(participants),
        carried=len(carried.calls),
        failed=failed,
        bought_nothing=nothing,
        unread=carried.unread,
    )


def _value(participants: int, carried: int, useful: int, wasted: int) -> tuple[float | None, str | None]:
    if participants < 2:
        return None, "a lone participant has nobody to call"
    if not carried:
        return WORST, "unseen: the gateway carried no call between participants"
    if not useful:
        return WORST, "no call that the gateway carried bought anything"
    return WORST + (1 - WORST) * TOLERANCE / (TOLERANCE + wasted), None


def _beyond(unread: int) -> str:
    limit = f"{MAX_CARRIED_TEXT:,}"
    return f"{unread} calls said something beyond the first {limit} characters, which is not read and is no news"


class _Readers:
    """What each participant has met so far."""

    def __init__(self, participants: Iterable[str], figures: frozenset[str]) -> None:
        self._figures = figures
        self._met: defaultdict[str, set[str]] = defaultdict(set)
        self._names = frozenset(word for name in participants for word in words_in(name))
        """The participants' names are no news: `/peers` tells everybody."""

    def note(self, agent: str, words: set[str]) -> None:
        """Adds words to what a participant has met."""
        self._met[agent] |= words

    def tell(self, reader: str, words: set[str]) -> bool:
        """Adds words to what a reader has met. True if some of them are news to it.

        Of figures, only those that stand in the task or in a graded answer are news.
        """
        new = words - self._met[reader]
        self._met[reader] |= new
        return any((word in self._figures or not is_figure(word)) and word not in self._names for word in new)
