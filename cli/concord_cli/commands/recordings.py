"""The commands that read existing traces: `evaluate`, `explain`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from concord_cli.commands.options import LOOPBACK, Expect, Quiet, checked_url
from concord_cli.errors import UsageError
from concord_cli.exits import execute, exit_codes, terminable
from concord_cli.extras import needing

if TYPE_CHECKING:
    from concord.assessment.recorded_work import Redaction

COLLECTOR = f"http://{LOOPBACK}:9010"

Format = Annotated[str | None, typer.Option("--format", help="Format of the files, if it cannot be detected.")]


Recordings = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATHS", help="Files or folders to evaluate, or - for standard input."),
]
CollectorUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        callback=checked_url,
        help="Evaluate the traces of this collector (CONCORD_OPEN=1) instead of files.",
    ),
]
Since = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only traces with spans since then: 10m, 2h, or an ISO date.")
]
ListTraces = Annotated[bool, typer.Option("--list", help="List the traces that the collector has, and evaluate none.")]
Watching = Annotated[
    bool,
    typer.Option("--watch", help="Print a line per minute about the traces that the collector gets, until Ctrl-C."),
]
Every = Annotated[float, typer.Option(min=1, metavar="SECONDS", help="The time between two lines of --watch.")]
Rejudge = Annotated[
    bool,
    typer.Option(
        "--rejudge",
        help="Judge the traces with the configured language model (AGENTBEATS_LLM_API_KEY, _BASE_URL, _MODEL).",
    ),
]
Agreement = Annotated[
    bool,
    typer.Option(
        "--agreement",
        help="Compare the judge with labels: PATHS is a JSON lines file with "
        '{"trace": path or lines, "label": "pass" or "fail"} on each line.',
    ),
]
Samples = Annotated[int, typer.Option(min=1, max=9, help="Number of times that the model judges each trace.")]
ByRules = Annotated[bool, typer.Option("--rules", help="Judge by rules, without a language model.")]
JudgeContent = Annotated[
    bool,
    typer.Option("--judge-content", help="Let the texts of imported traces leave this machine: to the model."),
]
RowsFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Results file to write: .json for one document, .jsonl for one row per line; with --agreement, its "
        "figures (JSON).",
    ),
]
GraphFile = Annotated[
    Path | None, typer.Option(help="GraphML file to write the agent graph to, or a folder for several traces.")
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(help="Config file (.toml or .json) with evaluators, metrics, thresholds, evidence, roster."),
]
KeepGoing = Annotated[bool, typer.Option("--keep-going", help="Skip files that are not traces.")]
JoinSessions = Annotated[
    bool,
    typer.Option("--join-sessions", help="Join the traces of one session.id, whichever framework wrote them."),
]
Redact = Annotated[
    Literal["drop", "hash"] | None,
    typer.Option(help="Drop all texts of the traces, or replace them by digests."),
]


def evaluate(
    paths: Recordings = None,
    collector: CollectorUrl = None,
    since: Since = None,
    list_traces: ListTraces = False,
    watch: Watching = False,
    every: Every = 60,
    rejudge: Rejudge = False,
    agreement: Agreement = False,
    samples: Samples = 1,
    rules: ByRules = False,
    judge_content: JudgeContent = False,
    output: RowsFile = None,
    graphml: GraphFile = None,
    format_name: Format = None,
    config: ConfigFile = None,
    expect: Expect = None,
    keep_going: KeepGoing = False,
    join_sessions: JoinSessions = False,
    redact: Redact = None,
    quiet: Quiet = False,
) -> None:
    """Measure how agents worked together in recorded traces.

    Writes one row for each trace. Reads trace files, or the traces of an open collector, and needs no service.
    """
    with exit_codes(), needing("concord evaluate", "evaluator"):
        if expect is not None and (list_traces or watch or rejudge or agreement):
            raise UsageError(
                "--expect has code judge the traces: it goes without --list, --watch, --rejudge, --agreement"
            )
        if join_sessions and (list_traces or watch or rejudge or agreement):
            raise UsageError("--join-sessions goes without --list, --watch, --rejudge, --agreement")
        _check(paths, collector, since, one_of=(list_traces, watch, rejudge, agreement), live=list_traces or watch)
        if list_traces or watch:
            _live(collector or COLLECTOR, since, every if watch else None)
        elif agreement or rejudge:
            from concord.service.logs import configure_logging
            from concord_cli.judge.agreement import calibrate_judge
            from concord_cli.judge.rejudge import rejudge_traces

            configure_logging("judge", level="WARNING")
            files = paths or []
            if agreement:
                execute(calibrate_judge(files[0], output, samples, config, rules=rules, quiet=quiet))
            else:
                given = (files, output, samples, format_name, config, _redaction(redact))
                execute(rejudge_traces(*given, rules=rules, quiet=quiet, content=judge_content))
        else:
            from concord_cli.evaluate.command import EvaluateArguments, evaluate_traces

            options = (paths or [], format_name, config, output, graphml, keep_going, quiet)
            with terminable() as reraise:
                evaluate_traces(
                    EvaluateArguments(*options, _redaction(redact), expect, join_sessions), collector, since, reraise
                )


def _live(collector: str, since: str | None, every: float | None) -> None:
    """Lists the traces that a collector has, or says every so many seconds which it got."""
    from concord_cli.traces.collector import print_traces
    from concord_cli.traces.watch import watch

    if every is None:
        print_traces(collector, since)
        return
    with terminable():
        watch(collector, every)


AskedJudge = Annotated[
    bool,
    typer.Option(
        "--judge",
        help="Also ask the configured language model (AGENTBEATS_LLM_API_KEY, _BASE_URL, _MODEL) who caused each "
        "failure, at which step. The texts leave this machine: to the model, whose opinion changes nothing else.",
    ),
]


def explain(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS", help="Trace files or folders, or - for standard input.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each trace, one per line.")] = False,
    format_name: Format = None,
    judge: AskedJudge = False,
) -> None:
    """Explain why recorded runs failed, and which steps to read first."""
    with exit_codes(), needing("concord explain", "evaluator"):
        from concord_cli.causes.command import causes, causes_with_opinions

        if judge:
            execute(causes_with_opinions(paths, format_name, as_json=as_json))
        else:
            with terminable():
                causes(paths, format_name, as_json=as_json)


def _check(
    paths: list[Path] | None, collector: str | None, since: str | None, *, one_of: tuple[bool, ...], live: bool
) -> None:
    """Raises UsageError for options that do not go together."""
    if sum(one_of) > 1:
        raise UsageError("give one of --list, --watch, --rejudge and --agreement")
    if live and paths:
        raise UsageError("--list and --watch read a collector, not files")
    judging = any(one_of) and not live
    if judging and (collector is not None or not paths):
        raise UsageError("--rejudge and --agreement read files: give their paths, and no --collector")
    if one_of[3] and len(paths or ()) != 1:
        raise UsageError("--agreement reads one file of labels")
    if not live and since is not None and collector is None:
        raise UsageError("--since needs --collector")
    if not live and not paths and collector is None:
        raise UsageError("give files or folders, or --collector URL")


def _redaction(given: str | None) -> "Redaction | None":
    from concord.assessment.recorded_work import Redaction

    return None if given is None else Redaction(given)
