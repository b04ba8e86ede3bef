"""A scripted team that uses a tool and edits files: each step of it is a step of a trace.

Each worker takes a file on, is told a timeout and later another one, looks a number up, writes both into its file,
checks the file, and delivers it. The work is done if the deliveries can be merged, and all files are right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from concord.assessment.observations import Observation
from concord.suite import Draw
from concord.trace.effects import Effect, EffectKind, Lines, Workspace, content_digest
from concord.trace.step import CallType, InteractionStep, StepAction, ToolInvocation
from concord.wire.roster import Roster
from concord_evaluator.formats import TraceBuilder
from concord_evaluator.formats.trace import Origin
from concord_evaluator.observations import acts_of, observe

NAMES: Final = ("Ada", "builder", "coder_2", "Dilip", "planner", "QA", "reviewer", "zoe")
CORRECTIONS: Final = (
    "The timeout is not {old} but {new}.",
    "Correction: the timeout should be {new}, not {old}.",
    "{old} is wrong, the timeout should be {new}.",
    "The timeout has changed from {old} to {new}.",
    "For the timeout, please use {new} instead of {old}.",
    "The timeout was updated from {old} to {new} this morning.",
    "We moved from {old} to {new}, sorry for the late word.",
    "Sorry, I meant {new} and not {old}.",
)
"""Written before the finder was tried on any."""

_START: Final = datetime(2031, 3, 3, 9, tzinfo=UTC)
_OUTAGE: Final = "the service is unavailable (503)"


@dataclass
class Workshop:
    """The team's place of work: its tool, its record, and what was delivered."""

    draw: Draw
    lead: str
    old: str
    new: str
    numbers: Mapping[str, str]
    """By worker, what the tool knows."""
    delivered: list[Mapping[str, str]] = field(default_factory=list)
    """By file, the lines of each delivery."""
    faulty: dict[str, str] = field(default_factory=dict)
    """The agents of the steps that a fault made or changed, by step."""
    contested: set[str] = field(default_factory=set)
    """Files that a fault makes two workers edit."""
    tool_is_down: bool = False
    said: list[str] = field(default_factory=list)
    """The texts of all messages."""
    trace: TraceBuilder = field(default_factory=lambda: TraceBuilder("workshop", Origin("a script")))
    _steps: int = 0

    @property
    def is_done(self) -> bool:
        """Whether the deliveries can be merged, and all files are right."""
        merged: dict[str, str] = {}
        for name, line in (each for delivery in self.delivered for each in delivery.items()):
            if merged.setdefault(name, line) != line:
                return False
        return merged == {file_of(worker): line_of(number, self.new) for worker, number in self.numbers.items()}

    def observed(self) -> list[Observation]:
        """What the finders observe in the record."""
        trace = self.trace.build()
        return observe(acts_of(trace.reports(), Roster(trace.roster)))

    def says(self, sender: str, receiver: str, text: str) -> str:
        """A message. Returns its step id."""
        step_id, at = self._next()
        self.said.append(text)
        self.trace.add_message(step_id, sender, receiver, text, sent_at=at)
        return step_id

    def does(self, agent: str, effect: Effect) -> str:
        """A step of own work. Returns its step id."""
        return self._add(agent, CallType.HOST, effect.attributes())

    def uses_tool(self, agent: str) -> tuple[str, bool]:
        """A use of the tool. Returns its step id, and whether it worked."""
        use = ToolInvocation(tool_name="lookup", parameters={"number_for": file_of(agent)})
        told = {"error": _OUTAGE} if self.tool_is_down else {"tool_result": self.numbers[agent]}
        return self._add(agent, CallType.TOOL, told, StepAction(tool_invocation=use)), not self.tool_is_down

    def _add(self, agent: str, kind: CallType, attributes: Mapping[str, str], action: StepAction | None = None) -> str:
        step_id, at = self._next()
        step = InteractionStep(
            step_id=step_id,
            trace_id=self.trace.trace_id,
            call_type=kind,
            step_action=action,
            additional_attributes=dict(attributes),
            start_time=at,
        )
        self.trace.add(step, agent)
        return step_id

    def _next(self) -> tuple[str, datetime]:
        self._steps += 1
        return f"step-{self._steps}", _START + timedelta(seconds=self._steps)


@dataclass
class Worker:
    """A worker that makes no mistakes, and goes on with a guess where the tool gives nothing."""

    shop: Workshop
    name: str
    others: Sequence[str]
    mild: bool
    """Whether its fault, if it has one, is one that a team tolerates."""
    timeout: str = ""
    lines: dict[str, str] = field(default_factory=dict)
    """By file, the line that it writes."""

    @property
    def guess(self) -> str:
        """What it writes without the number."""
        return f"NUMBER_OF_{self.name.upper()}"

    def takes_on(self) -> str:
        """Takes its file on. Returns the step id."""
        self.timeout = self.shop.old
        step = self.shop.does(self.name, Effect(EffectKind.CLAIMED, file_of(self.name)))
        self.shop.says(self.name, self.shop.lead, f"I take {file_of(self.name)}, with a timeout of {self.timeout}.")
        return step

    def hears(self, correction: str) -> None:
        """Is told another timeout."""
        self.shop.says(self.shop.lead, self.name, correction)
        self.timeout = self.shop.new

    def works(self) -> None:
        """Does all the rest."""
        self.lines[file_of(self.name)] = line_of(self.looks_up(), self.timeout)
        self.writes()
        self.delivers()
        self.reports()

    def looks_up(self) -> str:
        """The number for its file."""
        for _ in range(self.shop.draw.between(1, 6)):
            step, works = self.shop.uses_tool(self.name)
            if works:
                return self.shop.numbers[self.name]
            self.shop.faulty[step] = self.name
        if self.mild:
            self.shop.tool_is_down = False
            return Worker.looks_up(self)
        return self.guess

    def writes(self) -> None:
        """Writes and checks its lines."""
        for name in self.lines:
            self.edits(name)
        self.checks(passed=True)

    def edits(self, name: str) -> str:
        """Writes a line. Returns the step id."""
        change = f"-pass\n+{self.lines[name]}"
        at, digest = Lines(5, 1), content_digest(change)
        effect = Effect(EffectKind.EDITED, name, at, digest, 1, 1, workspace=Workspace.SEPARATE, excerpt=change)
        step = self.shop.does(self.name, effect)
        if name in self.shop.contested:
            self.shop.faulty[step] = self.name
        return step

    def checks(self, *, passed: bool) -> str:
        """Runs the checks. Returns the step id."""
        said = "all passed" if passed else "1 failed: '(' was never closed"
        return self.shop.does(self.name, Effect(EffectKind.CHECKED, file_of(self.name), passed=passed, excerpt=said))

    def delivers(self) -> str:
        """Delivers its lines. Returns the step id."""
        n, digest = len(self.lines), content_digest("\n".join(self.lines.values()))
        self.shop.delivered.append(self.lines)
        return self.shop.does(self.name, Effect(EffectKind.DELIVERED, file_of(self.name), None, digest, n, n))

    def reports(self) -> str:
        """Tells the lead, and a colleague. Returns the step id of the first."""
        told = self.shop.says(self.name, self.shop.lead, f"I delivered {file_of(self.name)}, timeout {self.timeout}.")
        self.shop.says(self.name, self.shop.draw.choice(self.others), f"{file_of(self.name)} is there, have a look.")
        return told


def file_of(worker: str) -> str:
    """The file that a worker takes on."""
    return f"{worker.lower()}.py"


def line_of(number: str, timeout: str) -> str:
    """The line of a file that is right."""
    return f"connect({number}, timeout={timeout})"


def worked(seed: int, faulty: type[Worker] | None = None, *, mild: bool = False) -> Workshop:
    """The work of a team. One of its workers has the fault, always the same one: the team without it is its twin."""
    draw = Draw(f"workshop {seed}".encode())
    lead, *names = draw.sample(NAMES, draw.between(3, 6))
    old, new = (str(each) for each in draw.sample(range(20, 90), 2))
    numbers = {name: str(draw.between(10_000, 99_999)) for name in names}
    shop = Workshop(Draw(f"work {seed}".encode()), lead, old, new, numbers)
    chosen, correction = draw.choice(names), draw.choice(CORRECTIONS).format(old=old, new=new)
    workers = [
        (faulty if faulty is not None and name == chosen else Worker)(
            shop, name, [each for each in names if each != name], mild
        )
        for name in names
    ]
    for worker in workers:
        shop.says(lead, worker.name, f"Please write {file_of(worker.name)}. The timeout is {old}.")
        worker.takes_on()
    for worker in workers:
        worker.hears(correction)
    for worker in draw.shuffled(workers):
        worker.works()
    return shop
