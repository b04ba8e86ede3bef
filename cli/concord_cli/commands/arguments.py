"""The arguments of commands: a dataclass states the options of a command, and is what its room gets."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from concord_cli.commands.options import (
    REQUIRED,
    RESULTS_FILE,
    argument,
    expected_answers,
    json_switch,
    listening_host,
    option,
    output_file,
    tcp_port,
    url,
    verbose_switch,
)
from concord_cli.errors import UsageError

SHIPPED_SCENARIO = Path(__file__).parents[1] / "quick.toml"
DAYS = "office-"
CALIBRATION_FOLDER = RESULTS_FILE.parent / "calibration"


@dataclass(frozen=True, slots=True)
class RunArguments:
    """What to assess, and what to do with the result."""

    scenario: Path = argument(
        SHIPPED_SCENARIO,
        "Scenario file (TOML) with the agents and the config, the folder of an assistant's scenario, or days "
        "in the office (office-1, office-1-07).",
        "SCENARIO",
        show_default="a sample team; with --assistant, three days in the office",
    )
    endpoint: str | None = option(
        None,
        "The running assistant, for days and folders; by default, Concord's own one if a language model is "
        "configured, else the oracle.",
        "--assistant",
        "--endpoint",
        metavar="URL",
    )
    output: Path | None = output_file("Results file to write.", show_default=str(RESULTS_FILE))
    traces: Path | None = option(None, "Folder to save each trial's trace in, as Concord JSONL.", metavar="FOLDER")
    sample: bool = option(
        False,
        "Have the sample agent play in place of each participant, as a reference for `concord compare`.",
        "--sample",
    )
    keep: bool = option(False, "Keep the services and the team running afterwards, until Ctrl-C.", "--keep")
    models: bool = option(
        False,
        "SCENARIO lists language models (TOML): assess each in all seats, and write a table of their results "
        f"into a folder ({CALIBRATION_FOLDER}).",
        "--models",
    )
    verbose: bool = verbose_switch()

    @property
    def days(self) -> str | None:
        """The name of published days in the office to play instead: "" for the first ones, None for no days."""
        if self.scenario == SHIPPED_SCENARIO:
            return None if self.endpoint is None else ""
        name = str(self.scenario)
        return name if name.startswith(DAYS) and not self.scenario.exists() else None


@dataclass(frozen=True, slots=True)
class ServeArguments:
    """Which programs to run, and where they listen."""

    scenario: Path | None = argument(
        None, "Scenario file (TOML) whose team to start, too.", "SCENARIO", show_default="no team"
    )
    host: str = listening_host()
    port: int = tcp_port(9009, "Port of the gateway.", "--port", "--gateway-port")
    card_url: str | None = url("URL in the agent card, where clients and participants reach the gateway.")
    collector_port: int | None = tcp_port(
        None, "The collector's own port, beside a team 9010 by default; else the gateway's port serves both."
    )
    agents_port: int = tcp_port(9021, "Port of the team's first agent; the others follow.")
    output_dir: Path = option(RESULTS_FILE.parent, "Folder for the gateway's results, beside a team.")
    separate: bool = option(False, "Start gateway, collector and workers as programs of their own.", "--separate")
    sample_team: bool = option(False, None, "--sample-team", hidden=True)


@dataclass(frozen=True, slots=True)
class AssessArguments:
    """The scenario that a green agent is asked to assess."""

    scenario: Path = argument(REQUIRED, "Scenario file (TOML) with the agents' addresses and the config.", "SCENARIO")
    output: Path = option(RESULTS_FILE, "Results file to write.", "--output", "-o")
    verbose: bool = verbose_switch()


@dataclass(frozen=True, slots=True)
class AdaptArguments:
    """An agent to start, and where the gateway reaches it."""

    role: str = argument(REQUIRED, "The agent's role in the assessment.", "ROLE")
    command: list[str] = argument(REQUIRED, "The command that starts the agent.", "COMMAND")
    port: int = tcp_port(REQUIRED, "Port where the gateway reaches the agent.")
    host: str = listening_host()
    card_url: str | None = url("URL of that port, for the agent's card.")
    agent: str | None = url("Where COMMAND listens; by default, it gets --host, --port and --card-url.")


@dataclass(frozen=True, slots=True)
class ReplayArguments:
    """A trial to play on, from which change, and by whom."""

    bundle: Path = argument(REQUIRED, "Bundle of the assessment (bundles/<id>.zip).", "BUNDLE")
    agent: list[str] = option(
        REQUIRED, "A participant and the address at which its agent runs now.", metavar="NAME=URL"
    )
    trial: str | None = option(None, "The trial; without it, the first whose answer is not right.", metavar="ID")
    at: str | None = option(None, "The message to change.", metavar="STEP")
    edit: str | None = option(None, "What arrives instead of the message; empty for nothing.", metavar="TEXT")
    causes: bool = option(False, "Replace the step of each cause by what the task needs.", "--causes")
    pairs: int = option(5, "Pairs of replays, where the team does not do the same twice.", min=2, max=100)
    as_json: bool = json_switch()

    @property
    def agents(self) -> Mapping[str, str]:
        """The addresses of running participants, by name. Raises UsageError."""
        if wrong := [each for each in self.agent if not all(each.partition("="))]:
            raise UsageError(f"{wrong[0]!r} is not NAME=URL")
        return {name: url for name, _, url in (each.partition("=") for each in self.agent)}


@dataclass(frozen=True, slots=True)
class ReportArguments:
    """What to show, and how. `by`: a division of many traces; None for all. `at`: the time at which `date` divides."""

    results: Path = argument(
        RESULTS_FILE,
        "Results file (.json or .jsonl); with --index, a folder with results files.",
        "RESULTS",
        show_default=f"{RESULTS_FILE}, or its folder",
    )
    output: Path | None = output_file(
        "HTML file to write; by default, the results file's name with .html, or index.html in the folder."
    )
    text: bool = option(False, "Print the verdict, as at the end of a run.", "--text")
    index: bool = option(False, "Write an index of all runs in a folder, in which two can be compared.", "--index")
    trial_id: str | None = option(None, "Trial to report on, instead of the whole row.", "--trial", metavar="ID")
    assessment_id: str | None = option(
        None, "Assessment or trace to report on, if the file has several.", "--assessment", metavar="ID"
    )
    by: str | None = option(
        None, "Compare many traces by version, date or label; by all if not given.", metavar="GROUPS"
    )
    at: datetime | None = option(None, "Compare the traces before a date (UTC) with those since.")
    open_page: bool = option(False, "Open the page in the browser.", "--open")
    verbose: bool = verbose_switch()
    as_json: bool = json_switch()


@dataclass(frozen=True, slots=True)
class CompareArguments:
    """What to compare. `reference`: the files of the sample agent. `expect`: answers of recordings."""

    results: list[Path] = argument(
        REQUIRED,
        "Results files to compare, one per team; or files of traces, or folders of them.",
        "RESULTS",
    )
    output: Path | None = output_file("JSON file to write the comparison to.")
    reference: list[Path] | None = option(
        None,
        "Results of the sample agent (`concord run SCENARIO --sample`): shown in their kind, and not ranked.",
        metavar="FILE",
    )
    expect: Path | None = expected_answers()
    as_json: bool = json_switch()


@dataclass(frozen=True, slots=True)
class CheckArguments:
    """Two versions, and what a verdict on the new one takes. `margin`, `least_score`: in points.

    `scenario`: of the new version, or its results file or recordings. `expect`: answers of recordings.
    """

    scenario: Path = argument(
        REQUIRED,
        "Scenario file (TOML) of the new version, with its config; or, to play nothing, its results "
        "file, file of traces or folder of recordings.",
        "SCENARIO",
    )
    baseline: Path | None = option(
        None,
        "Results file of the old version, whose puzzles are played again; or its recordings.",
        metavar="RESULTS",
    )
    against: Path | None = option(
        None,
        "Scenario file of the old version, which plays fresh puzzles in turns with the new one: without a "
        "baseline, or once the baseline's puzzles are used up.",
        metavar="SCENARIO",
    )
    margin: float = option(10, "The loss that passes, of 100 points.", min=0.1, max=99, metavar="POINTS")
    least_score: float | None = option(
        None, "Also fail if the new version scores less.", "--fail-under", min=0, max=100, metavar="SCORE"
    )
    most_pairs: int = option(120, "The most fresh puzzles to play with --against.", "--max-pairs", min=1, max=1000)
    report: Path | None = output_file("JSON file for the verdict.", metavar="FILE")
    output: Path = option(
        RESULTS_FILE.parent / "gate.json",
        "Results file of the new version to write, if it plays.",
        "--results",
        metavar="FILE",
    )
    junit: Path | None = option(None, "JUnit XML file for the verdict.", metavar="FILE")
    markdown: Path | None = option(None, "Markdown file for the verdict, as for a pull request.", metavar="FILE")
    expect: Path | None = expected_answers()
    as_json: bool = json_switch()


@dataclass(frozen=True, slots=True)
class VerifyArguments:
    """What to verify, and against what."""

    results: Path = argument(REQUIRED, "Results file (.json) to verify.", "RESULTS")
    sign: bool = option(False, "Also sign rows, bundles, manifests and the images' digests.", "--sign")
    bundle: Path | None = option(
        None,
        "The bundle, or a folder with <assessment id>.zip for each row; by default, bundles/ beside the results.",
        metavar="PATH",
    )
    key: Path | None = option(
        None,
        "Public key (PEM, ed25519) to check the signature; with --sign, the private key, by default in "
        "CONCORD_SIGNING_KEY.",
        metavar="FILE",
    )
    signature: Path | None = option(
        None, "The signature; by default, the results file's name with .sig.", metavar="FILE"
    )
    provenance: Path | None = option(None, "provenance.json with the digests of the images that ran.", metavar="FILE")
    scenarios: list[Path] = option(
        [Path("scenarios/assistant")],
        "Folder with the scenarios of assistants. Only code that equals theirs is executed.",
        "--scenarios",
        metavar="FOLDER",
    )
    bundle_from: str | None = option(
        None,
        "The green agent from which to download the bundles that are not there, with the key in CONCORD_API_KEY.",
        metavar="URL",
    )

    @property
    def bundles(self) -> Path:
        """The bundle, or the folder of the bundles."""
        return self.bundle or self.results.parent / "bundles"


@dataclass(frozen=True, slots=True)
class RowsArguments:
    """Which table to write, and where to."""

    results: list[Path] = argument(REQUIRED, "Results files (.json or .jsonl).", "RESULTS")
    of: Literal["rows", "trials", "calls", "messages"] = option("rows", "What a line of the table is.")
    output: Path | None = output_file(
        "File to write: .csv, .json, .jsonl or .parquet (needs pyarrow); without it, CSV is printed."
    )
    as_json: bool = json_switch("Print JSON lines instead of CSV.")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Which traces to evaluate, list, watch or judge, and what to write."""

    paths: list[Path] | None = argument(None, "Files or folders to evaluate, or - for standard input.", "PATHS")
    collector: str | None = url("Evaluate the traces of this collector (CONCORD_OPEN=1) instead of files.")
    since: str | None = option(None, "Only traces with spans since then: 10m, 2h, or an ISO date.", metavar="TIME")
    list_traces: bool = option(False, "List the traces that the collector has, and evaluate none.", "--list")
    watch: bool = option(
        False, "Print a line per minute about the traces that the collector gets, until Ctrl-C.", "--watch"
    )
    every: float = option(60, "The time between two lines of --watch.", min=1, metavar="SECONDS")
    rejudge: bool = option(
        False,
        "Judge the traces with the configured language model (AGENTBEATS_LLM_API_KEY, _BASE_URL, _MODEL).",
        "--rejudge",
    )
    agreement: bool = option(
        False,
        "Compare the judge with labels: PATHS is a JSON lines file with "
        '{"trace": path or lines, "label": "pass" or "fail"} on each line.',
        "--agreement",
    )
    samples: int = option(1, "Number of times that the model judges each trace.", min=1, max=9)
    rules: bool = option(False, "Judge by rules, without a language model.", "--rules")
    judge_content: bool = option(
        False, "Let the texts of imported traces leave this machine: to the model.", "--judge-content"
    )
    output: Path | None = output_file(
        "Results file to write: .json for one document, .jsonl for one row per line; with --agreement, its "
        "figures (JSON)."
    )
    graphml: Path | None = option(None, "GraphML file to write the agent graph to, or a folder for several traces.")
    format_name: str | None = option(None, "Format of the files, if it cannot be detected.", "--format")
    config: Path | None = option(
        None, "Config file (.toml or .json) with evaluators, metrics, thresholds, evidence, roster."
    )
    expect: Path | None = expected_answers()
    keep_going: bool = option(False, "Skip files that are not traces.", "--keep-going")
    join_sessions: bool = option(
        False, "Join the traces of one session.id, whichever framework wrote them.", "--join-sessions"
    )
    redact: Literal["drop", "hash"] | None = option(None, "Drop all texts of the traces, or replace them by digests.")
    quiet: bool = option(False, "Print errors only.", "--quiet", "-q")

    def check(self) -> None:
        """Raises UsageError for options that do not go together."""
        live, judging = self.list_traces or self.watch, self.rejudge or self.agreement
        if self.expect is not None and (live or judging):
            raise UsageError(
                "--expect has code judge the traces: it goes without --list, --watch, --rejudge, --agreement"
            )
        if self.join_sessions and (live or judging):
            raise UsageError("--join-sessions goes without --list, --watch, --rejudge, --agreement")
        if self.list_traces + self.watch + self.rejudge + self.agreement > 1:
            raise UsageError("give one of --list, --watch, --rejudge and --agreement")
        if live and self.paths:
            raise UsageError("--list and --watch read a collector, not files")
        if judging and (self.collector is not None or not self.paths):
            raise UsageError("--rejudge and --agreement read files: give their paths, and no --collector")
        if self.agreement and len(self.paths or ()) != 1:
            raise UsageError("--agreement reads one file of labels")
        if not live and self.since is not None and self.collector is None:
            raise UsageError("--since needs --collector")
        if not live and not self.paths and self.collector is None:
            raise UsageError("give files or folders, or --collector URL")


@dataclass(frozen=True, slots=True)
class AuditArguments:
    """What to attack, and how much of it to show."""

    targets: list[str] = argument(
        REQUIRED,
        "Scenario files (TOML), suites (manifests, families, groups of families), folders of an assistant's "
        "scenario, days in the office (office-1-07), or folders of any of these.",
        "TARGETS",
    )
    scenarios: Path = option(
        Path("scenarios/assistant"),
        "The folder of assistants' scenarios that a scenario file names.",
        metavar="FOLDER",
    )
    instances: int = option(12, "Instances of each team task on which seats pretend.", min=2, max=1000)
    as_json: bool = json_switch("Print a JSON list with an object for each target.")
    verbose: bool = verbose_switch("Show every attack and every item.")


def _family() -> Any:  # noqa: ANN401 - as `argument`
    return argument(REQUIRED, "A family, as `concord tasks list` shows them.", "FAMILY")


def _seats() -> Any:  # noqa: ANN401
    return option(5, "The size of the team.", min=2, max=100)


def _difficulty() -> Any:  # noqa: ANN401
    return option(2, min=1, max=5)


def _topology() -> Any:  # noqa: ANN401
    return option("complete", "complete, star, chain, ring, tree, small-world or scale-free.", "--topology")


@dataclass(frozen=True, slots=True)
class ShowArguments:
    """A task to show."""

    family: str = _family()
    seats: int = _seats()
    difficulty: int = _difficulty()
    topology: str = _topology()
    key: bool = option(False, "Show the right answers, too.", "--key")


@dataclass(frozen=True, slots=True)
class Instance:
    """Which task of a family: everything that it follows from."""

    family: str = _family()
    secret: str | None = option(
        None, "64 hexadecimal digits; without it, a new one is drawn.", envvar="CONCORD_TASK_SECRET"
    )
    task: str | None = option(None, "The id of the task; by default the family's name.")
    run: int = option(1, min=1)
    attempt: int = option(1, "Above 1 for a trial that was run again.", min=1)
    seats: int = _seats()
    difficulty: int = _difficulty()
    topology: str = _topology()
    names: str = option("agent", "The seats' names are this, a slash, and their number.")


@dataclass(frozen=True, slots=True)
class EstimateArguments:
    """An assessment to estimate."""

    suite: list[str] = argument(REQUIRED, "Manifests, families, or groups of families.", "SUITE")
    seats: int | None = option(None, "By default what the manifest says, or 5.", min=2, max=100)
    trials: int = option(1, "Of each task.", min=1, max=100)
    turn_s: float = option(5.0, "How long an agent takes for a turn (seconds).", min=0.01)
    exchange: Literal["rounds", "calls"] | None = option(
        None, "How the seats exchange messages; by default as in the manifest, or in rounds."
    )


@dataclass(frozen=True, slots=True)
class DayArguments:
    """A day in the office to show."""

    day: str = argument(REQUIRED, "A published day in the office, such as office-1-01.", "DAY")
    secret: str | None = option(None, "The secret of its values, 64 hexadecimal digits.", show_default="an example's")
    as_json: bool = json_switch()
