"""The commands under `concord tasks`."""

import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

import typer
from pydantic import JsonValue, ValidationError
from rich.console import Console
from rich.table import Column, Table

from concord.assessment.plan import DEFAULT_SEATS
from concord.assessment.request import AssessmentConfig
from concord.assessment.suite_tasks import requested_tasks
from concord.assessment.task_spec import Exchange, FamilyTask
from concord.suite import (
    Draw,
    Family,
    SuiteTask,
    Topology,
    fewest_calls,
    installed_families,
    instance_secret,
    neighbours_in,
)
from concord.suite.draw import SECRET_BYTES
from concord_cli.commands.arguments import Instance
from concord_cli.errors import UsageError
from concord_cli.input_files import json_of, reasons
from concord_cli.results_file import read_rows
from concord_cli.tasks.detectable import detectable_text
from concord_cli.tasks.secrets import revealed_secret

CHARACTERS_PER_TOKEN: Final = 4
"""Of English text, roughly, for the tokenisers of common language models."""

OVERHEAD_TOKENS: Final = 250
"""Tokens of a turn's text besides its brief, its question and its messages, and of a reply."""


def families_table() -> None:
    """Prints a table of all families."""
    chance = Column("chance at 5", justify="right")
    table = Table("family", "group", "seats", chance, "task", box=None, header_style="bold")
    with Console(stderr=True).status("Generating tasks of each family"):
        for family in installed_families():
            seats = f"{family.seats[0]}-{family.seats[-1]}"
            table.add_row(family.name, family.group.value, seats, f"{mean_chance(family):.0%}", family.summary)
    Console(highlight=False).print(table)


def mean_chance(family: Family) -> float:
    """The mean chance of 20 tasks of usual difficulty for `DEFAULT_SEATS`, always the same tasks."""
    size, secret = max(DEFAULT_SEATS, family.seats[0]), "0" * 2 * SECRET_BYTES
    tasks = (Instance(family.name, secret, str(n), seats=size) for n in range(20))
    return fmean(_generate(each).chance for each in tasks)


def show_task(instance: Instance, *, show_key: bool) -> None:
    """Prints a task as a team gets it."""
    task = _generate(instance)
    console = Console(highlight=False)
    console.print(f"[bold]Question[/bold] to all {len(task.seats)} seats\n{task.question}\n", soft_wrap=True)
    for seat in task.seats:
        console.print(f"[bold]{seat}[/bold] may write to {', '.join(task.neighbours[seat])}, and knows:")
        console.print(f"{task.briefs[seat]}\n", soft_wrap=True, markup=False)
    messages, rounds = task.fewest_messages, task.fewest_rounds
    least = "" if messages.exact else " at least"
    console.print(f"It takes{least} {messages.value} messages ({messages.proof}) and {rounds.value} rounds.")
    console.print(f"A team that sends no message reaches {task.chance:.0%}.")
    if show_key:
        console.print(f"Key: {json.dumps(task.key, ensure_ascii=False)}", soft_wrap=True, markup=False)


def write_task(instance: Instance) -> None:
    """Writes a task to standard output, as JSON."""
    secret = instance.secret or secrets.token_hex(SECRET_BYTES)
    task = _generate(instance, secret)
    typer.echo(json.dumps({"secret": secret, **asdict(task)}, ensure_ascii=False, indent=1))


def grade_answers(task_file: Path, answers_file: Path) -> None:
    """Prints the grade of answers to a generated task. Raises UsageError for files that are none."""
    task, answers = _json_object(task_file), _json_object(answers_file)
    if not {"family", "key"} <= task.keys():
        raise UsageError(f"{task_file}: no `family` and `key`: it is not a task of `concord tasks generate`")
    grade = _family(str(task["family"])).grade(answers, task["key"])
    console = Console(highlight=False)
    for part, value in grade.parts.items():
        console.print(f"{part}: {value:g}", markup=False)
    for seat in grade.unreadable:
        console.print(f"{seat}: its answer does not have the form that the question asks for", markup=False)
    console.print(f"outcome {grade.outcome:.3f}")


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of a trial: calls, tokens, and consecutive turns. `rounds`: None for an exchange by calls."""

    rounds: int | None
    calls: int
    read: int
    written: int
    turns: int


def print_estimate(
    suite: Sequence[str], seats: int | None, trials: int, turn_s: float, exchange: str | None = None
) -> None:
    """Prints the calls, tokens and time of an assessment, in rounds unless `exchange` or a task's own says `calls`.

    In rounds, the team needs one round more than the fewest. By calls, it makes the fewest calls, one after the other.
    """
    estimates: list[tuple[str, int, Estimate]] = []
    by = None if exchange is None else Exchange(exchange)
    try:
        requested = requested_tasks(AssessmentConfig(suite=list(suite), seats=seats, exchange=by))
    except ValueError as error:
        named = ", ".join(each for each in suite if Path(each).suffix or Path(each).exists())
        hint = f": {named} is a file; give the names in its `suite`" if named else ""
        raise UsageError(f"{reasons(error) if isinstance(error, ValidationError) else error}{hint}") from error
    for spec in requested:
        if spec.family is not None:
            size = seats or spec.family.seats or DEFAULT_SEATS
            task = _of_spec(spec.id, spec.family, size)
            by_calls = spec.family.exchange is Exchange.CALLS
            estimates.append((spec.id, size, _by_calls(task) if by_calls else _in_rounds(task)))
    with_rounds = any(each.rounds is not None for _, _, each in estimates)
    headings = ("seats", *(["rounds"] if with_rounds else []), "calls", "tokens in", "tokens out")
    table = Table("task", *(Column(each, justify="right") for each in headings), box=None, header_style="bold")
    for task_id, size, each in estimates:
        rounds = ["-" if each.rounds is None else f"{each.rounds:,}"] if with_rounds else []
        table.add_row(task_id, str(size), *rounds, *(f"{n:,}" for n in (each.calls, each.read, each.written)))
    console = Console(highlight=False)
    console.print(table)
    calls, read, written, turns = (
        trials * sum(column)
        for column in zip(*((each.calls, each.read, each.written, each.turns) for _, _, each in estimates), strict=True)
    )
    more = "more rounds costs more" if with_rounds else "more calls costs more, and concurrent calls take less time"
    console.print(
        f"\n{trials} trial(s) of each: {calls:,} calls, {read:,} tokens read and {written:,} written, "
        f"{turns * turn_s / 60:.1f} min at {turn_s:g} s a turn. A team that needs {more}."
    )
    console.print(detectable_text(suite[0] if len(suite) == 1 else "", len(estimates), trials))


def print_secrets(results: Path, folder: Path) -> None:
    """Prints the secret of each row's tasks as a line of JSON. Raises UsageError."""
    for row in read_rows(results):
        secret = revealed_secret(row, folder)
        detail = row.detail
        line = {"assessment_id": detail.assessment_id, "sha256": detail.task_secret_sha256, "secret": secret}
        typer.echo(json.dumps(line))


def _in_rounds(task: SuiteTask) -> Estimate:
    """All seats take a turn in each round, and each passes on its knowledge once."""
    rounds, size = task.fewest_rounds.value + 1, len(task.seats)
    sent = task.fewest_messages.value * _brief_tokens(task) * 2
    read = size * rounds * _turn_tokens(task) + sent * rounds / 2
    written = size * rounds * OVERHEAD_TOKENS / 5 + sent
    return Estimate(rounds, rounds * size, round(read), round(written), rounds)


def _by_calls(task: SuiteTask) -> Estimate:
    """Each seat gets the task once. A call is a turn of its callee, and another of its caller."""
    calls, size = fewest_calls(task).value, len(task.seats)
    turns = size + 2 * calls
    sent = 2 * calls * _brief_tokens(task)
    written = turns * OVERHEAD_TOKENS / 5 + sent
    return Estimate(None, calls + size, round(turns * _turn_tokens(task) + sent), round(written), 1 + 2 * calls)


def _turn_tokens(task: SuiteTask) -> float:
    """The tokens that a seat reads in a turn, besides messages."""
    return _brief_tokens(task) + len(task.question) / CHARACTERS_PER_TOKEN + OVERHEAD_TOKENS


def _brief_tokens(task: SuiteTask) -> float:
    return fmean(map(len, task.briefs.values())) / CHARACTERS_PER_TOKEN


def _generate(instance: Instance, secret: str | None = None) -> SuiteTask:
    family, master = _family(instance.family), b""
    if instance.topology not in set(Topology):
        raise UsageError(f"no topology is called {instance.topology!r}: one of {', '.join(Topology)}")
    topology = Topology(instance.topology)
    with suppress(ValueError):
        master = bytes.fromhex(secret or instance.secret or secrets.token_hex(SECRET_BYTES))
    if len(master) != SECRET_BYTES:
        raise UsageError(f"a secret has {2 * SECRET_BYTES} hexadecimal digits")
    own = instance_secret(master, family.name, f"{instance.task or family.name}:{instance.run}", instance.attempt)
    names = [f"{instance.names}/{number}" for number in range(1, instance.seats + 1)]
    try:
        return family.generate(own, neighbours_in(topology, names, Draw(own + b"topology")), instance.difficulty)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _of_spec(task_id: str, family: FamilyTask, size: int) -> SuiteTask:
    topology = family.topology.value if isinstance(family.topology, Topology) else Topology.COMPLETE.value
    return _generate(Instance(family.name, None, task_id, seats=size, difficulty=family.difficulty, topology=topology))


def _family(name: str) -> Family:
    families = {family.name: family for family in installed_families()}
    if name not in families:
        raise UsageError(f"no family is called {name!r}: one of {', '.join(sorted(families))}")
    return families[name]


def _json_object(path: Path) -> Mapping[str, JsonValue]:
    document = json_of(path)
    if not isinstance(document, dict):
        raise UsageError(f"{path}: not a JSON object")
    return dict(document)
