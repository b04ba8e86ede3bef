"""What a team has to do together: an errand for each of its people, and parts that all end states decide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from concord.suite import Bound
from concord_assistant.office.families.steps import sends
from concord_assistant.office.plan import Errand, KnownFact, OracleStep
from concord_assistant.office.world import Office


@dataclass(frozen=True, slots=True)
class TeamPart:
    """A part of the team's work that is right or wrong for itself.

    Without a `desk`, it is done if the errand of its seat is. With one, it is done if forms with these values stand
    there, all of them from one seat, whichever that is.
    """

    part_id: str
    seat: int
    """Whose part it is, from 0."""
    needs: tuple[str, ...]
    """The ids of the facts that it follows from."""
    desk: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TeamWork:
    """What a family plants in the offices of a team.

    `errands` and `told` are by seat; `told` are the facts that a seat's assistant may tell to the other people.
    """

    question: str
    errands: Sequence[Errand]
    told: Sequence[Sequence[KnownFact]]
    parts: Sequence[TeamPart]
    fewest_messages: Bound
    chance: float
    """The expected outcome of the best team that sends nothing, from 0 to 1."""
    named: Sequence[KnownFact] = ()
    """Values that the prompts name to all of them."""
    once: tuple[str, ...] = ()
    """Desks at which two seats' forms for one request are harm, and so is a request left open that nobody tells of."""
    prices: Mapping[str, int] = field(default_factory=dict)
    """By the codes of articles, what a standing form for one costs."""
    limit: int | None = None
    """What all standing forms may cost together. More is harm."""


class NotUniqueError(Exception):
    """The values that were drawn leave several right answers."""


LEFT_OPEN = "left_open"
"""The member of the last chat message that lists the requests that nobody has done."""


def tells(turn: int, teller: Office, offices: Sequence[Office], lines: Sequence[str]) -> list[OracleStep]:
    """A mail with these lines to each of the others."""
    mates = [each for each in offices if each is not teller]
    return [sends(turn, each.user.email, "What I have", "\n".join(lines)) for each in mates]
