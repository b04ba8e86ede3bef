"""The flow of facts in a trial of a team's task: which fact went where, as lanes of seats over time, and who knew what.

Horizontal places are shares of the width, so that the drawing fits any screen; vertical ones are pixels.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Literal

from concord.assessment.results import CallRecord
from concord.assessment.team_results import FactMessage, FlowRecord, TeamTaskRecord
from concord_cli.display_text import on_one_line, shortened
from concord_cli.number_text import NONE, duration, percent
from concord_cli.report.timeline import LABEL_LIMIT, Lane, Tick, gutter_of
from concord_cli.row_view.table import Cell, Column, Table, not_listed, table_of

MAX_LANES: Final = 60
"""Limit of the seats: the first ones."""

MAX_LINES: Final = 160
"""With more messages, only those that a failure names, and then the first with news, have a line."""

MAX_STRONG: Final = 60
"""With more lines, those of messages with news are faint."""

CURVE: Final = 56.0
"""Height of the curve of coverage in pixels."""

_AXIS, _GAP, _BAND = 24.0, 18.0, 9.0
_TICKS: Final = 12
_NAMED: Final = 4

MAX_FACTS: Final = 40
"""Limit of the rows: the lost facts, then the needed ones."""

MAX_SEATS: Final = 40
"""Limit of the columns: the seats that lacked a fact or lost one, then the others."""

LONGEST: Final = 10_000
"""A later time is not credible."""

_SEAT_LIMIT: Final = 14

_Kind = Literal["held", "told", "late", "missing", "none"]


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of time in which a seat could know the same share of the facts; `level`: 0 (none) to 5 (all)."""

    x: str
    width: str
    y: float
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """A message, from its sender's lane to its receiver's."""

    x1: str
    y1: float
    x2: str
    y2: float
    kind: Literal["news", "stale", "lost"]
    title: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A seat's last answer."""

    x: str
    y: float
    title: str


@dataclass(frozen=True, slots=True)
class Step:
    """A stretch of the curve of coverage, at the height `y`; `rise`: the y at which it begins."""

    x: str
    end: str
    y: float
    rise: float
    title: str


@dataclass(frozen=True, slots=True)
class Journey:
    """The drawing. `undrawn`: messages without a line; `*_left_out`: seats without a lane, messages not in the row."""

    height: float
    gutter: int
    top: float
    lanes: list[Lane]
    bands: list[Band]
    lines: list[Line]
    marks: list[Mark]
    curve: list[Step]
    last_coverage: str
    ticks: list[Tick]
    in_rounds: bool
    undrawn: int
    seats_left_out: int
    messages_left_out: int

    @property
    def dense(self) -> bool:
        """Whether so many lines cross that they are drawn faintly."""
        return len(self.lines) > MAX_STRONG

    @property
    def kinds(self) -> set[str]:
        """The kinds of the lines."""
        return {line.kind for line in self.lines}


def draw_journey(record: TeamTaskRecord, calls: Sequence[CallRecord] = ()) -> Journey | None:
    """Draws the flow of a trial; None if its record has none, or one that does not fit together.

    `calls`: those of the trial, whose start times label the axis of a trial without rounds.
    """
    flow = record.flow
    if flow is None or not flow.facts or not fits(flow):
        return None
    in_rounds = record.rounds is not None
    return _Plot(flow, record, {call.step_id: call for call in calls}, in_rounds).drawn()


@dataclass(frozen=True, slots=True)
class _Plot:
    flow: FlowRecord
    record: TeamTaskRecord
    calls: Mapping[str, CallRecord]
    in_rounds: bool

    def drawn(self) -> Journey:
        shown = range(min(len(self.flow.seats), MAX_LANES))
        lanes = [self._lane(seat) for seat in shown]
        drawn = self._drawn_messages()
        return Journey(
            height=self._bottom(len(shown)),
            gutter=gutter_of([*(lane.name for lane in lanes), "coverage"]),
            top=_AXIS,
            lanes=lanes,
            bands=[band for seat in shown for band in self._bands(seat)],
            lines=[self._line(each) for each in drawn],
            marks=[mark for seat in shown for mark in self._marks(seat)],
            curve=list(self._curve()),
            last_coverage=f"{self._coverage(self.flow.end):.0%}",
            ticks=list(self._ticks()),
            in_rounds=self.in_rounds,
            undrawn=len(self.flow.messages) - len(drawn),
            seats_left_out=len(self.flow.seats) - len(shown),
            messages_left_out=max(0, self.flow.messages_omitted),
        )

    @property
    def _pitch(self) -> float:
        """The distance of two lanes."""
        return 30.0 if len(self.flow.seats) <= 8 else 22.0

    def _bottom(self, lanes: int) -> float:
        return _AXIS + CURVE + _GAP + lanes * self._pitch

    def _y(self, seat: int) -> float:
        return _AXIS + CURVE + _GAP + (seat + 0.5) * self._pitch

    def _edge(self, time: float) -> str:
        """The x at which a time begins; the first time is 1."""
        return percent(min(1.0, max(0.0, (time - 1) / self.flow.end)))

    def _centre(self, time: int) -> str:
        return self._edge(time + 0.5)

    def _lane(self, seat: int) -> Lane:
        name = self.flow.seats[seat]
        top = self._y(seat) - self._pitch / 2
        blamed = any(name in failure.seats for failure in self.record.failures)
        return Lane(shortened(name, LABEL_LIMIT), on_one_line(name), top, top + self._pitch, blamed)

    def _bands(self, seat: int) -> Iterator[Band]:
        known = sorted(max(1, time) for time in self.flow.known_from[seat] if time is not None)
        changes = sorted({1, *(time for time in known if time <= self.flow.end)})
        for time, after in zip(changes, [*changes[1:], self.flow.end + 1], strict=True):
            n, total = sum(each <= time for each in known), len(self.flow.facts)
            title = f"{on_one_line(self.flow.seats[seat])}: {n} of {total} facts from {self._unit} {time} on"
            yield Band(
                x=self._edge(time),
                width=percent((after - time) / self.flow.end),
                y=self._y(seat) - _BAND / 2,
                level=0 if not n else 5 if n == total else 1 + min(3, 4 * n // total),
                title=title,
            )

    @property
    def _unit(self) -> str:
        return "round" if self.in_rounds else "message"

    def _drawn_messages(self) -> list[FactMessage]:
        visible = [each for each in self.flow.messages if max(each.sender, each.receiver) < MAX_LANES]
        ranked = sorted(visible, key=lambda each: (self._kind(each) != "lost", not each.news, each.time))
        kept = {each.step_id for each in ranked[:MAX_LINES]}
        return [each for each in visible if each.step_id in kept][:MAX_LINES]

    def _kind(self, each: FactMessage) -> Literal["news", "stale", "lost"]:
        if any(failure.step_id == each.step_id for failure in self.record.failures):
            return "lost"
        return "news" if each.news else "stale"

    def _line(self, each: FactMessage) -> Line:
        facts, news = self.flow.facts, set(each.news)
        told = [on_one_line(facts[fact]) + (" (new)" if fact in news else "") for fact in each.facts]
        more = [f"and {len(told) - _NAMED} more"] if len(told) > _NAMED else []
        ends = f"{on_one_line(self.flow.seats[each.sender])} → {on_one_line(self.flow.seats[each.receiver])}"
        return Line(
            x1=self._centre(each.time),
            y1=self._y(each.sender),
            x2=self._centre(each.time + 1),
            y2=self._y(each.receiver),
            kind=self._kind(each),
            title=f"{ends}, {self._unit} {each.time}: {', '.join([*told[:_NAMED], *more]) or 'no fact'}",
        )

    def _marks(self, seat: int) -> Iterator[Mark]:
        time = self.flow.answered[seat]
        if time is not None and time >= 1:
            when = f"in round {time}" if self.in_rounds else "at the end"
            yield Mark(self._centre(time), self._y(seat), f"{on_one_line(self.flow.seats[seat])} answered {when}")

    def _coverage(self, time: int) -> float:
        """The mean over the answering seats of the share of needed facts that a seat could know at a time."""
        shares = [
            fmean(_is_known(known[need], time) for need in needs)
            for known, needs in zip(self.flow.known_from, self.flow.needs, strict=True)
            if needs
        ]
        return fmean(shares) if shares else 1.0

    def _curve(self) -> Iterator[Step]:
        times = {1, *(max(1, time) for known in self.flow.known_from for time in known if time is not None)}
        changes = sorted(time for time in times if time <= self.flow.end)
        floor = _AXIS + CURVE
        rise = floor
        for time, after in zip(changes, [*changes[1:], self.flow.end + 1], strict=True):
            share = self._coverage(time)
            y = floor - CURVE * share
            title = f"{share:.0%} of the needed facts from {self._unit} {time} on"
            yield Step(self._edge(time), self._edge(after), round(y, 1), round(rise, 1), title)
            rise = y

    def _ticks(self) -> Iterator[Tick]:
        step = max(1, math.ceil(self.flow.end / _TICKS))
        starts = {each.time: self._start(each) for each in self.flow.messages}
        for time in range(1, self.flow.end + 1, step):
            start = starts.get(time)
            text = str(time) if self.in_rounds or start is None else duration(start)
            yield Tick(self._centre(time), "end" if time == self.flow.end and not self.in_rounds else text)

    def _start(self, each: FactMessage) -> float | None:
        call = self.calls.get(each.step_id)
        return None if call is None else call.start_ms


def _is_known(since: int | None, time: int) -> bool:
    return since is not None and since <= time


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Who knew what when: a row for each fact, a column for each seat. `prefix`: how all names of seats begin.

    `kinds`: of the cells: held from the brief, told in time or not needed, told too late, missing, or none.
    """

    table: Table
    prefix: str
    unit: str
    kinds: set[str]


def knowledge_of(record: TeamTaskRecord) -> Knowledge | None:
    """The table of a trial; None if its record has no flow, or one that does not fit together."""
    flow = record.flow
    if flow is None or not flow.facts or not fits(flow):
        return None
    seats, prefix = _chosen(flow, record), _prefix(flow.seats)
    unit = "message" if record.rounds is None else "round"
    names = [(flow.seats[seat].removeprefix(f"{prefix}/") if prefix else flow.seats[seat]) for seat in seats]
    heads = [
        Column(shortened(name, _SEAT_LIMIT), about=on_one_line(flow.seats[seat]))
        for name, seat in zip(names, seats, strict=True)
    ]
    facts = range(len(flow.facts[:MAX_FACTS]))
    cells = {fact: [_cell(flow, seat, fact, unit) for seat in seats] for fact in facts}
    unlisted = len(flow.facts) - len(facts) + max(0, flow.facts_omitted)
    left_out = not_listed(unlisted, "further fact"), not_listed(len(flow.seats) - len(seats), "further seat")
    table = table_of(
        "Who knew what when",
        [Column("Fact", "head"), *heads],
        ([on_one_line(flow.facts[fact]), *(cell for _, cell in row)] for fact, row in cells.items()),
        kind="knowledge",
        foot=[
            [f"answered {'at' if record.rounds is None else 'in round'}", *(_number(flow.answered[s]) for s in seats)],
            ["messages sent", *(_number(flow.sent[seat]) for seat in seats)],
            ["of them redundant", *(_number(flow.redundant[seat]) for seat in seats)],
        ],
        left_out=" ".join(filter(None, left_out)),
    )
    kinds = {str(kind) for row in cells.values() for kind, _ in row}
    return Knowledge(table, on_one_line(prefix) if prefix else "", unit, kinds)


def _number(value: int | None) -> str:
    return NONE if value is None else str(value)


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


def _kind(flow: FlowRecord, seat: int, fact: int) -> _Kind:
    since = flow.known_from[seat][fact]
    needed = fact in flow.needs[seat]
    if since is None:
        return "missing" if needed else "none"
    if needed and since > (flow.answered[seat] or flow.end):
        return "late"
    return "told" if since > 0 else "held"


def _cell(flow: FlowRecord, seat: int, fact: int, unit: str) -> tuple[_Kind, Cell]:
    kind, since = _kind(flow, seat, fact), flow.known_from[seat][fact]
    said = {
        "held": "knew it from its brief",
        "told": f"could know it from {unit} {since} on",
        "late": f"could know it from {unit} {since} on, after its answer",
        "missing": "needed it and never could know it",
        "none": "never could know it, and did not need it",
    }
    text = {"held": "●", "missing": "✕", "none": "·"}.get(kind, str(since))
    shade = 1 + min(3, 4 * max(0, (since or 0) - 1) // max(1, flow.end))
    return kind, Cell(text, kind=f"{kind} shade-{shade}", about=f"{on_one_line(flow.seats[seat])} {said[kind]}")


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
