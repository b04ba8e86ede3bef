"""Faults of scripted workers that use a tool and edit files, and what of each the finders observe."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from concord.assessment.observations import ObservationKind
from lab.suites.workshop import Worker, file_of, line_of, worked

MILD: Final = 4
"""Every so many faults are of the form that a team tolerates."""

_OF_CALLS: Final = frozenset(
    {ObservationKind.UNREPAIRED_FAILURE, ObservationKind.REPEATED_ERROR, ObservationKind.RETRY_STORM}
)


class ToolFault(NamedTuple):
    """A fault of a worker, and the kinds of observations that it may have."""

    worker: type[Worker]
    kinds: frozenset[ObservationKind]


class Found(NamedTuple):
    """A planted fault, and what was observed of it."""

    harmful: bool
    kind: bool
    place: bool
    step: bool
    said: str
    alarms: str


class OutOfTool(Worker):
    """The tool is down from its use on; mild: for a while."""

    def looks_up(self) -> str:
        """Finds that the tool fails."""
        self.shop.tool_is_down = True
        return super().looks_up()


class UnluckyOnce(Worker):
    """One use of the tool fails, and later ones would not; mild: it tries again."""

    def looks_up(self) -> str:
        """Finds that the tool fails, and that it works for the others."""
        self.shop.tool_is_down = True
        step, _ = self.shop.uses_tool(self.name)
        self.shop.tool_is_down, self.shop.faulty[step] = False, self.name
        return super().looks_up() if self.mild else self.guess


class Stubborn(Worker):
    """Ignores a correction; mild: corrects itself in time."""

    def hears(self, correction: str) -> None:
        """Is told another timeout, and stays with the old one."""
        self.shop.faulty[self.shop.says(self.shop.lead, self.name, correction)] = self.name
        self.timeout = self.shop.new if self.mild else self.shop.old

    def reports(self) -> str:
        """Tells the lead the old timeout."""
        told = super().reports()
        self.shop.faulty[told] = self.name
        return told


class Intruder(Worker):
    """Edits the lines of a colleague, too; mild: as the colleague does."""

    def takes_on(self) -> str:
        """Takes its file on, and sees the next one as its own."""
        self.shop.contested.add(file_of(self.others[0]))
        return super().takes_on()

    def writes(self) -> None:
        """Writes its own line, and one of a file that another took on."""
        timeout = self.shop.new if self.mild else f"{self.shop.new}0"
        self.lines[file_of(self.others[0])] = line_of(self.shop.numbers[self.others[0]], timeout)
        super().writes()


class EmptyHanded(Worker):
    """Delivers nothing; mild: at first."""

    def delivers(self) -> str:
        """Delivers an empty patch."""
        lines, self.lines = self.lines, {}
        step = super().delivers()
        self.shop.faulty[step] = self.name
        if self.mild:
            self.lines = lines
            return super().delivers()
        return step


class Forgetful(Worker):
    """Takes its file on and never works on it; mild: a colleague does."""

    def takes_on(self) -> str:
        """Takes its file on."""
        step = super().takes_on()
        self.shop.faulty[step] = self.name
        return step

    def works(self) -> None:
        """Leaves it to others."""
        if self.mild:
            colleague = Worker(self.shop, self.others[0], self.others[1:], mild=False)
            colleague.lines[file_of(self.name)] = line_of(self.shop.numbers[self.name], self.shop.new)
            colleague.writes()
            colleague.delivers()


class Careless(Worker):
    """Delivers after its last check failed; mild: mends it first."""

    def writes(self) -> None:
        """Writes a line that is wrong, and checks it."""
        right = dict(self.lines)
        self.lines = {name: f"{line}(" for name, line in right.items()}
        for name in self.lines:
            self.edits(name)
        self.shop.faulty[self.checks(passed=False)] = self.name
        if self.mild:
            self.lines = right
            super().writes()

    def delivers(self) -> str:
        """Delivers what it has."""
        step = super().delivers()
        self.shop.faulty[step] = self.name
        return step


TOOL_FAULTS: Final[Mapping[str, ToolFault]] = {
    "a tool fails from then on": ToolFault(OutOfTool, _OF_CALLS),
    "one use of a tool fails": ToolFault(UnluckyOnce, _OF_CALLS),
    "ignores a correction": ToolFault(Stubborn, frozenset({ObservationKind.IGNORED_CORRECTION})),
    "edits the same lines": ToolFault(Intruder, frozenset({ObservationKind.CLASHING_EDITS})),
    "delivers nothing": ToolFault(EmptyHanded, frozenset({ObservationKind.DELIVERED_NOTHING})),
    "takes on and never works": ToolFault(Forgetful, frozenset({ObservationKind.CLAIMED_UNFINISHED})),
    "delivers after a failed check": ToolFault(Careless, frozenset({ObservationKind.DELIVERED_FAILING})),
}
"""By kind. Those of a tool leave one record: of calls that failed."""


def planted_tool_fault(kind: str, seed: int) -> Found:
    """Plants a fault in a team, beside its twin."""
    fault, twin = TOOL_FAULTS[kind], worked(seed)
    if not twin.is_done:
        raise AssertionError(f"without a fault, the work {seed} is not done")
    shop = worked(seed, fault.worker, mild=seed % MILD == 0)
    observed = shop.observed()
    agents = {agent for each in observed for agent in each.agents}
    steps = {step for each in observed for step in each.steps}
    return Found(
        harmful=not shop.is_done,
        kind=bool(observed) and {each.kind for each in observed} <= fault.kinds,
        place=bool(observed) and agents == set(shop.faulty.values()),
        step=bool(observed) and steps <= shop.faulty.keys(),
        said=", ".join(sorted({each.kind.value for each in observed})) or "nothing",
        alarms=", ".join(sorted({each.kind.value for each in twin.observed()})),
    )
