"""The teams: who asks whom, their further messages, and their faults."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

LEAD: Final = "lead"

TASK: Final = (
    "A park has four plots, and each of them has a warden who alone knows how many trees stand on it. "
    "How many trees does the park have in all?"
)


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot as its warden knows it. `boundary`: the trees between this plot and the others, counted in this plot."""

    trees: int
    kinds: str
    boundary: str


PLOTS: Final[Mapping[str, Plot]] = {
    "anna": Plot(137, "alders and willows along the brook", "hawthorns"),
    "bruno": Plot(241, "birches and rowans on the slope", "field maples"),
    "clara": Plot(84, "limes in the avenue", "hornbeams"),
    "david": Plot(59, "pears and quinces in the old orchard", "blackthorns"),
}

TOTAL: Final = sum(plot.trees for plot in PLOTS.values())

_WARDENS: Final = tuple(PLOTS)
_STAR: Final = {LEAD: _WARDENS}


@dataclass(frozen=True, slots=True)
class Team:
    """A team of a lead, who gets the task, and wardens.

    `asks`: the members that each member asks for their trees, concurrently; a warden does so when it is asked, and
    answers for all of them. `compares`: the members that a warden also asks about the boundary. `small_talk`: the
    messages that the lead sends first, one after the other. `answer`: the text of the lead's answer.
    """

    asks: Mapping[str, Sequence[str]] = field(default_factory=lambda: _STAR)
    compares: Mapping[str, Sequence[str]] = field(default_factory=dict)
    small_talk: Sequence[tuple[str, str]] = ()
    answer: str = "The four plots of the park have {total} trees in all."
    knows_total: bool = False
    """Whether the lead knows the answer before it asks anybody."""
    direct: bool = False
    """Whether members call each other at their real addresses, and never ask `/peers` for others."""
    faults: Mapping[str, Literal["crash", "break_off"]] = field(default_factory=dict)
    """Members that fail when asked: the process exits, or the stream of the answer breaks off."""
    members: Sequence[str] = (LEAD, *_WARDENS)


TEAMS: Final[Mapping[str, Team]] = {
    "good": Team(),
    "hub": Team(asks={LEAD: ["anna"], "anna": ["bruno", "clara", "david"]}),
    "chain": Team(asks={LEAD: ["anna"], "anna": ["bruno"], "bruno": ["clara"], "clara": ["david"]}),
    "tree": Team(asks={LEAD: ["anna", "bruno"], "anna": ["clara"], "bruno": ["david"]}),
    "mesh": Team(compares={"anna": ["bruno", "clara", "david"], "bruno": ["clara", "david"], "clara": ["david"]}),
    "garbage": Team(
        asks={},
        small_talk=[(warden, "Hello!") for warden in _WARDENS],
        answer="Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
    ),
    "empty": Team(answer=""),
    "knowing": Team(asks={}, knows_total=True),
    "pings": Team(small_talk=[("anna", "ping")] * 50),
    "numbered-pings": Team(small_talk=[("anna", f"ping {number}") for number in range(1, 51)]),
    "crash": Team(faults={"david": "crash"}),
    "dropped-stream": Team(faults={"david": "break_off"}),
    "alone": Team(asks={}, knows_total=True, members=(LEAD,)),
    "direct": Team(direct=True),
}
