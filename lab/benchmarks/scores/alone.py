"""The lift of teams over their starting agent alone: of teams that need each other or do not, and of a cheat."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from concord.a2a import AgentUnreachableError, IncomingMessage, RemoteError, TaskHandle
from concord.agent.messenger import Messenger
from concord.agent.peers import PeerDiscovery
from concord.assessment.result_row import ControlRecord, ResultRow
from concord.wire.assignment import Assignment
from concord_cli.assessment_client import assess
from concord_cli.row_view.score import lift_text
from concord_cli.terminal import ProgressLog
from lab.benchmarks.tables import ResultTable
from tests.kit.serving import served_agent

TASKS: Final = 8
LEAD, HELPER = "lead", "helper"
DONT_KNOW: Final = "I do not know."


def _doubled(text: str) -> str:
    return str(2 * int(text.split()[-1]))


@dataclass(frozen=True, slots=True)
class Lead:
    """Gets a number to double. `decides`: its answer, given the helper's one (None for none) and the right one.

    `address`: of the helper, as it has it itself; without one, it asks `/peers`.
    """

    decides: Callable[[str | None, str], str]
    address: str | None = None

    async def __call__(self, message: IncomingMessage, task: TaskHandle, /) -> None:
        """See `concord.a2a.Handler`."""
        assignment = Assignment.from_metadata(message.metadata)
        async with PeerDiscovery() as discovery, Messenger(lambda _step, _assignment: None) as messenger:
            urls = {peer.id: peer.url for peer in await discovery.peers(assignment)}
            url = self.address or urls.get(HELPER)
            told = None
            if url is not None:
                try:
                    told = (await messenger.send(url, text=message.text, assignment=assignment)).text
                except (AgentUnreachableError, RemoteError):
                    told = None
        await task.complete(self.decides(told, _doubled(message.text)))


async def _helper(message: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(_doubled(message.text))


async def _wrong_helper(_: IncomingMessage, task: TaskHandle) -> None:
    await task.complete("7")


def _needs(told: str | None, right: str) -> str:
    del right
    return told or DONT_KNOW


TEAMS: Final[Mapping[str, Callable[[str | None, str], str]]] = {
    "the agent needs its helper": _needs,
    "the same, with the helper's address of its own": _needs,
    "the agent needs nobody": lambda _, right: right,
    "the helper is wrong, and the agent believes it": lambda told, right: told or right,
    "cheat: the agent needs nobody, and plays dumb when alone": lambda told, right: (
        DONT_KNOW if told is None else right
    ),
}


async def alone_table(gateway: str, progress: ProgressLog) -> ResultTable:
    """Assesses every team with the control `alone`. Raises AssessmentError."""
    lines = []
    for name, decides in TEAMS.items():
        helping = _wrong_helper if "wrong" in name else _helper
        async with served_agent(helping) as helper:
            own_address = helper if "of its own" in name else None
            async with served_agent(Lead(decides, own_address)) as lead:
                row = await _row(gateway, {LEAD: lead, HELPER: helper})
        lift = row.detail.scoring.lift
        if lift is None:
            raise RuntimeError(f"{name}: the row has no lift")
        progress.log(f"{name}: {lift_text(lift)}")
        lines.append([name, f"{row.score:.1f}", *_cells(lift)])
    return ResultTable(
        "Teams whose starting agent is tried alone",
        f"Measured by `make score-table`: {TASKS} tasks of the user's own, each once by the team and once by its "
        "starting agent alone. Lift in points. The last team shows that a lift can be had by playing dumb, and why "
        "nothing is ranked by it.",
        ("team", "score", "alone", "lift", "cut off", "the head of the summary"),
        lines,
    )


def _cells(lift: ControlRecord) -> list[str]:
    interval = "" if lift.gap_low is None else f" [{100 * lift.gap_low:+.0f}, {100 * (lift.gap_high or 0):+.0f}]"
    cut_off = {True: "yes", False: "no", None: "not known"}[lift.cut_off]
    return [f"{100 * lift.value:.1f}", f"{100 * lift.gap:+.0f}{interval}", cut_off, lift_text(lift)]


async def _row(gateway: str, team: Mapping[str, str]) -> ResultRow:
    tasks: list[JsonValue] = [
        {
            "id": f"double-{number}",
            "text": f"Double this number: {number}",
            "target": str(2 * number),
            "scorer": "numeric",
        }
        for number in range(101, 101 + TASKS)
    ]
    config: dict[str, JsonValue] = {
        "tasks": tasks,
        "start": LEAD,
        "controls": ["alone"],
        "quiet_s": 0.1,
        "closing_cap_s": 0.5,
    }
    [found] = await assess(gateway, team, config, lambda _: None)
    return ResultRow.model_validate(found)
