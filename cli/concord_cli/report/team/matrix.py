"""Who knew what when: a table with a row for each fact and a column for each seat."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from concord.assessment.team_results import FlowRecord, TeamTaskRecord
from concord_cli.display_text import on_one_line, shortened

MAX_FACTS: Final = 40
"""Limit of the rows: the lost facts, then the needed ones."""

MAX_SEATS: Final = 40
"""Limit of the columns: the seats that lacked a fact or lost one, then the others."""

LONGEST: Final = 10_000
"""A later time is not credible."""

_LABEL_LIMIT: Final = 14

Kind = Literal["held", "told", "late", "missing", "none"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A fact at a seat. `kind`: held from the brief, told in time or not needed, told too late, missing, or none.

    `text`: the time; `shade`: 1 (the first quarter of the trial) to 4.
    """

    kind: Kind
    text: str
    shade: int
    title: str


@dataclass(frozen=True, slots=True)
class Seat:
    """A column: the seat's name, shortened if all names begin alike, and its messages."""

    label: str
    name: str
    sent: int
    redundant: int
    answered: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """The table. `prefix`: how all names of seats begin; `*_left_out`: facts and seats that it does not show."""

    prefix: str
    seats: list[Seat]
    rows: list[tuple[str, list[Cell]]]
    facts_left_out: int
    seats_left_out: int
    in_rounds: bool
    has_late: bool
    has_missing: bool


def fits(flow: FlowRecord) -> bool:
    """Whether the lists of a flow go together, so that it can be drawn."""
    seats, facts = len(flow.seats), len(flow.facts)
    return (
        1 <= flow.end <= LONGEST
        and seats == len(flow.known_from) == len(flow.needs) == len(flow.answered) == len(flow.sent)
        and seats == len(flow.redundant)
        and all(len(known) == facts for known in flow.known_from)
        and all(0 <= need < facts for needs in flow.needs for need in needs)
        and all({each.sender, each.receiver} <= set(range(seats)) for each in flow.messages)
        and all(set(each.facts) | set(each.news) <= set(range(facts)) for each in flow.messages)
    )


def matrix_of(record: TeamTaskRecord) -> Matrix | None:
    """The table of a trial; None if its record has no flow, or one that does not fit together."""
    flow = record.flow
    if flow is None or not flow.facts or not fits(flow):
        return None
    seats, in_rounds = _chosen(flow, record), record.rounds is not None
    prefix = _prefix(flow.seats)
    rows = [
        (on_one_line(fact), [_cell(flow, seat, number, in_rounds=in_rounds) for seat in seats])
        for number, fact in enumerate(flow.facts[:MAX_FACTS])
    ]
    kinds = {cell.kind for _, cells in rows for cell in cells}
    return Matrix(
        prefix=on_one_line(prefix) if prefix else "",
        seats=[_seat(flow, seat, prefix) for seat in seats],
        rows=rows,
        facts_left_out=len(flow.facts) - len(rows) + max(0, flow.facts_omitted),
        seats_left_out=len(flow.seats) - len(seats),
        in_rounds=in_rounds,
        has_late="late" in kinds,
        has_missing="missing" in kinds,
    )


def _chosen(flow: FlowRecord, record: TeamTaskRecord) -> list[int]:
    blamed = {seat for failure in record.failures for seat in failure.seats}
    rank = {seat: flow.seats[seat] not in blamed and not any(_lacking(flow, seat)) for seat in range(len(flow.seats))}
    return sorted(sorted(rank, key=lambda seat: (rank[seat], seat))[:MAX_SEATS])


def _lacking(flow: FlowRecord, seat: int) -> Iterator[bool]:
    return (_kind(flow, seat, need) in {"late", "missing"} for need in flow.needs[seat])


def _prefix(seats: Sequence[str]) -> str:
    """What all names have before their last slash, which is the participant's name; empty if they differ."""
    prefixes = {seat.rpartition("/")[0] for seat in seats}
    return prefixes.pop() if len(prefixes) == 1 else ""


def _seat(flow: FlowRecord, seat: int, prefix: str) -> Seat:
    name = flow.seats[seat]
    time = flow.answered[seat]
    return Seat(
        label=shortened(name.removeprefix(f"{prefix}/") if prefix else name, _LABEL_LIMIT),
        name=on_one_line(name),
        sent=flow.sent[seat],
        redundant=flow.redundant[seat],
        answered="" if time is None else str(time),
    )


def _kind(flow: FlowRecord, seat: int, fact: int) -> Kind:
    since = flow.known_from[seat][fact]
    needed = fact in flow.needs[seat]
    if since is None:
        return "missing" if needed else "none"
    if needed and since > (flow.answered[seat] or flow.end):
        return "late"
    return "told" if since > 0 else "held"


def _cell(flow: FlowRecord, seat: int, fact: int, *, in_rounds: bool) -> Cell:
    kind, since = _kind(flow, seat, fact), flow.known_from[seat][fact]
    unit = "round" if in_rounds else "message"
    said = {
        "held": "knew it from its brief",
        "told": f"could know it from {unit} {since} on",
        "late": f"could know it from {unit} {since} on, after its answer",
        "missing": "needed it and never could know it",
        "none": "never could know it, and did not need it",
    }
    text = {"held": "●", "missing": "✕", "none": "·"}.get(kind, str(since))
    shade = 1 + min(3, 4 * max(0, (since or 0) - 1) // max(1, flow.end))
    return Cell(kind, text, shade, f"{on_one_line(flow.seats[seat])} {said[kind]}")
