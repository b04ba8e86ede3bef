"""`concord replay`, once its arguments are parsed."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console

from concord.agent.messenger import Messenger
from concord.bundle import BundleError, contents_of, read_bundle
from concord_cli.commands.arguments import ReplayArguments
from concord_cli.display_text import counted, printable
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.replay.edits import OWN_ANSWER, edit_at, repairs
from concord_cli.replay.playing import Agents, LiveTeam, Turn, turn_of
from concord_cli.replay.recorded import Recorded, recorded_trial
from concord_cli.terminal import delayed_spinner


async def replay(arguments: ReplayArguments) -> None:
    """Replays a trial and prints what turns it. Raises UsageError, AssessmentError."""
    if arguments.causes == (arguments.at is not None) or (arguments.at is None) != (arguments.edit is None):
        raise UsageError("give --causes, or a message with --at and its other text with --edit")
    agents = arguments.agents
    recorded = await asyncio.to_thread(_recorded, arguments)
    spinner = delayed_spinner(Console(stderr=True), f"Replaying {recorded.trial_id}")
    async with spinner, Messenger(lambda *_: None) as messenger:
        found = await found_by(recorded, Agents(messenger, _urls(recorded, agents)), arguments)
    lines = json.dumps([asdict(each) | {"turned": each.turn.turned} for each in found], indent=1)
    print(lines if arguments.as_json else printable_text(recorded, found))  # noqa: T201 - the command's answer


@dataclass(frozen=True, slots=True)
class Found:
    """A change, and what it turned."""

    change: str
    turn: Turn


async def found_by(recorded: Recorded, team: LiveTeam, arguments: ReplayArguments) -> list[Found]:
    """Each change with what it turned: the one that was asked for, or the repair of each cause and that of all."""
    if arguments.at is not None:
        edit = edit_at(recorded, arguments.at, arguments.edit or "")
        return [Found(f"another text of {arguments.at}", await turn_of(recorded, team, [edit], arguments.pairs))]
    known = [each for each in repairs(recorded.ended) if each.edits]
    found = list[Found]()
    for each in known:
        turn = await turn_of(recorded, team, each.edits, arguments.pairs, each.parts)
        found.append(Found(f"{each.cause} {' and '.join(each.seats)}", turn))
    if len(known) > 1:
        edits = [edit for each in known for edit in each.edits]
        found.append(Found("all of them", await turn_of(recorded, team, list(dict.fromkeys(edits)), arguments.pairs)))
    return found


def printable_text(recorded: Recorded, found: Sequence[Found]) -> str:
    """The findings, a line each, and the causes that no message of another seat would turn."""
    lines = [f"{recorded.trial_id}: outcome {recorded.ended.grade.outcome:.2f}"]
    lines += [f"  {each.change}: {_text(each.turn)}" for each in found]
    own = sorted(
        {f"{each.kind} {' '.join(each.agents)}" for each in recorded.ended.failures if each.kind in OWN_ANSWER}
    )
    if own:
        lines.append(f"  not replayed, because they lie in a seat's own answer: {', '.join(own)}")
    if not found and not own:
        lines.append("  no part of the answer is wrong")
    return "\n".join(map(printable, lines))


def _text(turn: Turn) -> str:
    change = f"{turn.before:.2f} to {turn.after:.2f}"
    if turn.control_is_equal:
        return f"{'turns it' if turn.turned else 'does not turn it'}, {change} (proven: without it, all is as recorded)"
    said = {True: "turns it", False: "does not turn it", None: "may turn it"}[turn.turned]
    interval = "" if turn.low is None or turn.high is None else f", gain {turn.low:.2f} to {turn.high:.2f}"
    return f"{said}, {change} ({counted(turn.pairs, 'pair')}{interval})"


def _recorded(arguments: ReplayArguments) -> Recorded:
    try:
        bundle = read_bundle(arguments.bundle)
        return recorded_trial(contents_of(bundle.manifest, bundle.members), arguments.trial)
    except BundleError as error:
        raise AssessmentError(f"{arguments.bundle}: {error}") from error


def _urls(recorded: Recorded, agents: Mapping[str, str]) -> dict[str, str]:
    """The address of each seat's agent. Addresses in a bundle are somebody else's, and not used. Raises UsageError."""
    named = {seat.id: seat.id if seat.id in agents else seat.id.partition("/")[0] for seat in recorded.seats}
    if missing := sorted(set(named.values()) - agents.keys()):
        raise UsageError(
            f"give the addresses of the running agents: {' '.join(f'--agent {name}=URL' for name in missing)}"
        )
    return {seat: agents[name] for seat, name in named.items()}
