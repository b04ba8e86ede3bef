"""The seats of a team: a participant takes one or several, each an agent of its own with its own A2A context."""

from collections.abc import Mapping, Sequence
from typing import Final

from concord.trust.proxy_urls import is_proxy_url
from concord.wire.roster import RosterEntry

DEFAULT_SEATS: Final = 5
"""The default number of seats of a lone participant."""


def seats_of(
    participants: Sequence[RosterEntry], configured: int | Mapping[str, int] | None, of_task: int | None = None
) -> list[RosterEntry]:
    """The seats of a team, as entries of its roster; those of one participant share its URL.

    A lone participant takes the `configured` number, else the task's, else `DEFAULT_SEATS`. Of several participants,
    each takes one, or as many as `configured` says.
    """
    counts = {entry.id: _count(entry.id, configured, 1) for entry in participants}
    if len(participants) == 1:
        [lone] = participants
        counts = {lone.id: _count(lone.id, configured, of_task or DEFAULT_SEATS)}
    return [seat for entry in participants for seat in _seats(entry, counts[entry.id])]


def shared_processes(seats: Sequence[RosterEntry]) -> bool:
    """Whether some participant takes several seats, so that one process may know what no message brought."""
    return len({seat.url for seat in seats}) < len(seats)


def _count(participant: str, configured: int | Mapping[str, int] | None, default: int) -> int:
    if isinstance(configured, Mapping):
        return configured.get(participant, default)
    return default if configured is None else configured


def _seats(entry: RosterEntry, count: int) -> list[RosterEntry]:
    if count == 1:
        return [entry]
    return [_seat(entry, number) for number in range(1, count + 1)]


def _seat(entry: RosterEntry, number: int) -> RosterEntry:
    """One of several seats. Its only alias is its address at the proxy; the others are the participant's as a whole."""
    proxied = tuple(f"{alias}{number}/" for alias in entry.aliases if is_proxy_url(alias))
    return entry.model_copy(update={"id": f"{entry.id}/{number}", "aliases": proxied})
