"""The record of a team task: its messages, the flow of facts, and the causes of wrong parts."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, WithJsonSchema

from concord.assessment.request import Fraction
from concord.assessment.table import Record
from concord.assessment.verdict import KINDS_OF_PARTS, CauseKind

MAX_FAILURES: Final = 200
"""Failures that a trial's record lists."""

MAX_NAMED_FACTS: Final = 20
"""Facts that a failure lists."""

MAX_FACTS: Final = 100
"""Facts whose flow a trial's record lists."""

MAX_MESSAGES: Final = 500
"""Messages that the flow lists."""


def _of_a_part(kind: CauseKind) -> CauseKind:
    if kind not in KINDS_OF_PARTS:
        raise ValueError(f"{kind} is not the cause of a part")
    return kind


PartCauseKind = Annotated[
    CauseKind,
    AfterValidator(_of_a_part),
    WithJsonSchema({"enum": list(KINDS_OF_PARTS), "title": "Cause", "type": "string"}),
]
"""One of `KINDS_OF_PARTS`."""


class PartFailure(Record):
    """A cause of a wrong or missing part of the answer: where the facts that it follows from were lost."""

    part: str
    cause: PartCauseKind
    seats: list[str]
    """The seat where it lies; several where messages and answers do not tell which of them."""
    step_id: str | None
    """The message that shows it, if one does."""
    facts: list[str]
    """The lost facts; at most `MAX_NAMED_FACTS`, the rest counted as omitted."""
    facts_omitted: int = 0
    lost: Fraction | None = None
    """The share of the trial's outcome that the part is short of, divided equally among the causes of the part."""


class UnprovenPart(Record):
    """Needed facts of a right part of the answer that its seat could not know from its brief and the messages."""

    part: str
    seat: str
    facts: list[str]
    """At most `MAX_NAMED_FACTS`, the rest counted as omitted."""
    facts_omitted: int = 0
    lost: Fraction | None = None
    """The share of the trial's outcome that is not credited for want of these facts."""


class UnexplainedKnowledge(Record):
    """Needed values in a seat's answer that neither its brief nor any message had brought."""

    seat: str
    facts: list[str]
    """At most `MAX_NAMED_FACTS`, the rest counted as omitted."""
    facts_omitted: int = 0


class FactMessage(Record):
    """A delivered message from one seat to another, and the facts that it told. Numbers are places in lists."""

    step_id: str
    time: int
    """The round in which it was sent; without rounds, its place among all messages. It arrives one later."""
    sender: int
    receiver: int
    facts: list[int]
    news: list[int]
    """Those of the facts that its receiver could not know before."""


class FlowRecord(Record):
    """Which fact went where, and when. Numbers of seats and facts are places in the lists `seats` and `facts`."""

    seats: list[str]
    facts: list[str]
    """The lost and the needed ones first; at most `MAX_FACTS`, the rest counted as omitted."""
    facts_omitted: int = 0
    needs: list[list[int]]
    """By seat, the facts that its answer follows from; none for a seat that need not answer."""
    known_from: list[list[int | None]]
    """By seat and fact, the time from which the seat could know the fact: 0 from its brief, null never."""
    answered: list[int | None]
    """By seat, the time of its last answer; null for none."""
    end: int
    """The last round; without rounds, one after the last message."""
    sent: list[int]
    """By seat, its delivered messages."""
    redundant: list[int]
    """By seat, those of its delivered messages that told their receivers no fact that was new to them."""
    messages: list[FactMessage]
    """In their order; at most `MAX_MESSAGES`, those with news first, the rest counted as omitted."""
    messages_omitted: int = 0


class TeamTaskRecord(Record):
    """A trial of a task that a family generated."""

    family: str
    difficulty: int
    topology: str
    """Its name, or `edges` if the request lists them."""
    exchange: Literal["rounds", "calls"] = "rounds"
    seats: list[str]
    shared_process: bool
    """Whether one participant takes several seats. The messages between such seats are proven; the separation of their
    knowledge is not."""
    control: Literal["solo", "silent"] | None
    paired_with: str | None
    chance: Fraction
    rounds: int | None
    """Null by calls."""
    messages: int
    """Delivered messages, each counted once for each of its receivers. By calls: answered calls, each counted once with
    its answer."""
    fewest_messages: int
    fewest_is_exact: bool
    redundant: int
    """Delivered messages that brought their receivers no fact that was new to them. By calls: answered calls whose
    request and answer both brought none."""
    credited: Fraction | None = None
    """The outcome that is proven: each part counts as far as its seat could know the facts that it needs. Of controls,
    the outcome. Null before version 3, and for tasks whose facts are prose: their score is the outcome."""
    information: Fraction | None = None
    """The share of needed facts of other seats' briefs that reached the seats that needed them in time; null if none is
    needed."""
    unproven: list[UnprovenPart] = []
    """At most `MAX_FAILURES`, the rest counted as omitted."""
    unproven_omitted: int = 0
    simple_messages: int | None = None
    """What a simple team sends that knows only its neighbours: each seat tells each neighbour all that it learns. By
    calls, its calls."""
    economy: Fraction | None = None
    """`simple_messages` per message sent, at most 1; null below the pass mark, and for controls."""
    turns: int | None = None
    """Replies that the gateway asked seats for, and answered calls. Null in older rows."""
    failed_parts: int = 0
    """Wrong or missing parts of the answers; 0 for controls, as the next three."""
    failed_informed: int = 0
    """Those of them whose seat answered, and could know all that the part follows from when it did."""
    failed_seats: int = 0
    informed_seats: int = 0
    """Seats with a failed part, and those of them of whose failed parts that holds for each."""
    cut_messages: int = 0
    """Messages of which only the beginning was delivered or read."""
    coverage: list[Fraction]
    """After each round, the part of the needed facts that the answering seats could know. By calls: after each answered
    call, of many after an even selection."""
    failures: list[PartFailure]
    """At most `MAX_FAILURES`, one of each cause and seat first, the rest counted as omitted."""
    failures_omitted: int = 0
    unexplained: list[UnexplainedKnowledge]
    flow: FlowRecord | None = None
    """Null for controls."""
