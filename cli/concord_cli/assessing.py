"""Assessments of teams on this machine and elsewhere: what `concord run`, `serve` and `assess` do."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue, ValidationError
from rich.table import Table

from concord.assessment.result_row import ResultRow
from concord.files import did_you_mean
from concord_cli.commands.arguments import RunArguments
from concord_cli.commands.options import RESULTS_FILE
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.kept_files import keep_files
from concord_cli.output_files import prepare_folder
from concord_cli.results_file import chosen_rows, write_results
from concord_cli.row_text.brief import Brief
from concord_cli.row_text.long_tables import tables
from concord_cli.row_view.view import view_of
from concord_cli.scenario.assistant import ORACLE_PLAYED, ORACLE_PLAYS, assistant_scenario, is_played_by_oracle
from concord_cli.scenario.office import office_scenario, published_names, with_team_oracles
from concord_cli.scenario.scenario_file import (
    ScenarioFile,
    check_config,
    check_spelling,
    read_scenario,
    with_sample_agent,
)
from concord_cli.stack.local import LocalStack, fixed_stack_ports, free_stack_ports, local_stack
from concord_cli.stack.plan import ONE_PROGRAM, Listening, StackPlan
from concord_cli.terminal import ProgressLog


async def run(arguments: RunArguments, progress: ProgressLog) -> None:
    """Assesses a scenario's team on a stack that lives as long as that takes, or until it is interrupted."""
    with ExitStack() as files:
        await _run(arguments, _chosen(arguments, files), progress)


async def _run(arguments: RunArguments, chosen: "_Chosen", progress: ProgressLog) -> None:
    path, output, scenario = arguments.scenario, arguments.output or RESULTS_FILE, chosen.scenario
    if arguments.sample:
        scenario = with_sample_agent(path, scenario)
    if arguments.keep:
        _refuse_isolation(path, scenario)
    prepare_folder(output)
    by_oracle = is_played_by_oracle(scenario)
    if by_oracle and chosen.by_concord:
        progress.log(ORACLE_PLAYS)
    if scenario.endpoints and not scenario.config.get("allow_missing"):
        from concord_cli.assessment_client import wait_for_connections

        progress.status("Contacting the running participants")
        await wait_for_connections(scenario.endpoints, progress.log)
    ports = free_stack_ports(scenario)
    async with local_stack(scenario, ports, progress, env=chosen.env, task_secret=chosen.task_secret) as stack:
        progress.log("All programs are ready")
        progress.status("Assessing")
        results = await stack.supervisor.guard(_assess_on(stack, scenario, progress))
        write_results(output, scenario.agentbeats_ids, results)
        if arguments.traces is not None:
            await _save_traces(stack, results, arguments.traces, progress)
        keep_files(stack.folder.path / "output", results, output)
        if arguments.keep:
            _show_result(results, output, progress, _name_of(path), verbose=arguments.verbose)
            await _stay(stack, progress)
    _show_result(results, output, progress, _name_of(path), verbose=arguments.verbose)
    if by_oracle:
        progress.log(ORACLE_PLAYED, "bold yellow")


async def up(
    path: Path | None,
    services: Listening,
    first_agent: int,
    output_folder: Path,
    progress: ProgressLog,
    *,
    separate: bool = False,
) -> None:
    """Runs a stack until interrupted: the services, and the team of a scenario if `path` names one.

    `first_agent` is the port of the team's first agent. With `separate`, each service is a program of its own. Raises
    UsageError for a port in use, and for an open collector on the gateway's port.
    """
    if services.collector is None:
        from concord_collector.settings import CollectorSettings

        if CollectorSettings().open:
            raise UsageError(
                "CONCORD_OPEN is set, but a green agent accepts no reports without a token on its port: unset it, or "
                "give the collector a port of its own (--collector-port 9010)"
            )
    scenario = ScenarioFile() if path is None else local_scenario(path)
    _refuse_isolation(path, scenario)
    ports = fixed_stack_ports(scenario, services, first_agent)
    async with local_stack(scenario, ports, progress, output_folder, separate=separate) as stack:
        if services.collector is None:
            progress.clear_status()
            progress.log(f"The green agent is ready at {services.card_url or services.gateway_url.rstrip('/')}")
            await stack.supervisor.guard(asyncio.Event().wait())
        await _stay(stack, progress)


async def _stay(stack: LocalStack, progress: ProgressLog) -> None:
    """Shows the addresses of all programs, and waits until the command is interrupted or a program ends."""
    progress.clear_status()
    progress.print(_addresses(stack.plan))
    progress.log(f"The logs are in {stack.folder.path}. Press Ctrl-C to stop all programs.")
    await stack.supervisor.guard(asyncio.Event().wait())


def _refuse_isolation(path: Path | None, scenario: ScenarioFile) -> None:
    """Raises UsageError for a team with isolated seats."""
    if scenario.team.isolation is not None:
        raise UsageError(
            f"{path}: isolation is for `concord run`, which ends with the assessment: other clients of a gateway could "
            "carry messages between its seats"
        )


async def ask(path: Path, output: Path, progress: ProgressLog, *, verbose: bool = False) -> None:
    """Has a running green agent assess running agents, as the platform's client does."""
    scenario = read_scenario(path)
    if scenario.green_agent is None or scenario.green_agent.endpoint is None:
        raise UsageError(
            f"{path}: green_agent.endpoint is missing: add the address of the green agent, or use `concord run`"
        )
    if scenario.local:
        raise UsageError(
            f"{path}: {scenario.local[0].role} has no endpoint: add its address, or start it with `concord run`"
        )
    check_spelling(path, scenario)
    prepare_folder(output)
    from concord_cli.assessment_client import answered, results_of, wait_for_cards

    green_agent = str(scenario.green_agent.endpoint)
    progress.status("Waiting for the agents' cards")
    await wait_for_cards({"the green agent": green_agent, **scenario.endpoints}, progress.log)
    progress.status("Assessing")
    answer = await answered(green_agent, scenario.endpoints, scenario.config, progress.log)
    results = results_of(answer)
    write_results(output, scenario.agentbeats_ids, results)
    try:
        from concord_cli.bundle_download import download_bundles

        await download_bundles(results, output.parent / "bundles", green_agent, answer.task_id)
    except AssessmentError as error:
        progress.log(f"Without a bundle, `concord verify` cannot compute these results again: {error}")
    _show_result(results, output, progress, _name_of(path), verbose=verbose)


def _name_of(path: Path) -> str:
    """The name of a scenario's file without its suffix, or of its folder."""
    return path.resolve().stem


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What to run: the scenario, environment variables, the secret of generated tasks (hex, None: the gateway's own),
    and whether Concord chose who plays."""

    scenario: ScenarioFile
    env: dict[str, str] = field(default_factory=dict)
    task_secret: str | None = None
    by_concord: bool = False


def _chosen(arguments: RunArguments, files: ExitStack) -> _Chosen:
    """What to run. `files` removes what it needs meanwhile. Raises UsageError."""
    path, endpoint = arguments.scenario, arguments.endpoint
    if arguments.days is not None:
        scenario, secret = files.enter_context(office_scenario(published_names(arguments.days or None), endpoint))
        return _Chosen(scenario, task_secret=secret, by_concord=True)
    if path.is_dir():
        folders = {"CONCORD_SCENARIO_FOLDERS": str(path.resolve().parent)}
        return _Chosen(assistant_scenario(path, endpoint), folders, by_concord=True)
    if endpoint is not None:
        raise UsageError("--assistant is for days and scenarios of assistants; a TOML file names its participants")
    local = local_scenario(path, sample=arguments.sample)
    scenario, of_team = files.enter_context(with_team_oracles(local))
    return _Chosen(scenario, task_secret=of_team)


async def _assess_on(stack: LocalStack, scenario: ScenarioFile, progress: ProgressLog) -> list[JsonValue]:
    from concord_cli.assessment_client import LostGreenAgentError, assess

    try:
        return await assess(stack.plan.gateway_url, stack.plan.agent_urls, scenario.config, progress.status)
    except LostGreenAgentError as error:
        tail = stack.log_tail(ONE_PROGRAM)
        raise AssessmentError(f"{error}\nThe last output of the gateway's program:\n{tail}") from error


async def _save_traces(stack: LocalStack, results: Sequence[JsonValue], folder: Path, progress: ProgressLog) -> None:
    from concord_cli.trace_export import save_traces

    saved = await save_traces(stack.redis_url, ResultRow.model_validate(results[0]), folder)
    progress.log(
        f"Saved {len(saved)} traces in {folder}. To judge them again, run `concord evaluate --rejudge {folder}`"
    )


def local_scenario(path: Path, *, sample: bool = False) -> ScenarioFile:
    """Reads a scenario for a local stack, with a participant for each isolated seat. Raises UsageError."""
    try:
        scenario = read_scenario(path, sample=sample).with_seats()
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    if scenario.green_agent is not None and scenario.green_agent.endpoint is not None:
        raise UsageError(f"{path}: names a running green agent: use `concord assess`, or remove green_agent")
    _check_team(path, scenario)
    check_config(path, scenario)
    return scenario


def _check_team(path: Path, scenario: ScenarioFile) -> None:
    from concord_purple.teams import Function, TeamName

    for each in scenario.local:
        if each.function is not None and each.function not in set(Function):
            raise UsageError(
                f"{path}: unknown function {each.function}: one of {', '.join(Function)}"
                + did_you_mean(each.function, Function)
            )
    wiring = scenario.team.wiring
    if wiring not in set(TeamName):
        raise UsageError(
            f"{path}: team.wiring: unknown wiring {wiring}: one of {', '.join(TeamName)}"
            + did_you_mean(wiring, TeamName)
        )


def _show_result(
    results: Sequence[JsonValue], output: Path, progress: ProgressLog, name: str, *, verbose: bool
) -> None:
    progress.clear_status()
    try:
        row = ResultRow.model_validate(results[0])
    except ValidationError:
        progress.log(f"{len(results)} results are in {output}. They are not in Concord's format.")
        return
    show_row(row, name, progress, verbose=verbose)
    progress.log(f"The result is in {output}. To see all of it as a page, run `concord report {output}`")


def show_row(row: ResultRow, name: str, progress: ProgressLog, *, verbose: bool) -> None:
    """Prints the verdict of a row; `verbose`: all of it, after the long tables."""
    view = view_of(row)
    if verbose:
        progress.print(tables(view))
    progress.print(Brief(view, name, whole=verbose))


def print_results(path: Path, assessment: str | None, *, verbose: bool) -> None:
    """Prints the verdicts of a results file, one after the other. Raises UsageError."""
    rows = chosen_rows(path, assessment)
    with ProgressLog() as progress:
        for row in rows:
            name = path.stem if len(rows) == 1 else f"{path.stem} {row.detail.assessment_id}"
            show_row(row, name, progress, verbose=verbose)


def _addresses(plan: StackPlan) -> Table:
    table = Table(box=None, show_header=False)
    for name, url in (("gateway", plan.gateway_url), ("collector", plan.collector_url), *plan.agent_urls.items()):
        table.add_row(name, url)
    return table
