"""Wrong inputs: each ends a command with the documented code, and one line on standard error says what is wrong."""

import json
import socket
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord_cli.main import app
from tests.unit.cli.rows import row

ROOT = Path(__file__).parents[3]
TRACE = ROOT / "tests/recordings/frameworks/ag2-tools.jsonl"
QUICK = ROOT / "scenarios/quick.toml"

USAGE, FAILED = 2, 1

WRONG: dict[str, tuple[str, int, str]] = {
    "run: a team's file that is JSON": ("run {results}", USAGE, "not TOML"),
    "run: a key that no scenario has": ("run {unknown_key}", USAGE, "participant: unknown key"),
    "run: a suite that does not exist": ("run {unknown_suite}", USAGE, "no-such-suite"),
    "run: a folder that cannot be made": ("run {quick} -o {file}/results.json", USAGE, "folder cannot be created"),
    "run: a folder as the output": ("run {quick} -o {folder}", USAGE, "cannot be written"),
    "run: an endpoint beside a team's file": ("run {quick} --endpoint {closed}", USAGE, "--assistant is for days"),
    "run: models with an option of a team": ("run {quick} --models --keep", USAGE, "--models goes with --output alone"),
    "run: a team's file as a list of models": ("run {quick} --models", USAGE, "models: Field required"),
    "run: a model whose key is not set": ("run {models} --models", USAGE, "no key in NO_SUCH_KEY"),
    "run: a folder without a scenario": ("run {folder}", USAGE, "scenario.json"),
    "serve: a port in use": ("serve --port {taken}", USAGE, "in use"),
    "serve: a port out of range": ("serve --port 70000", USAGE, "--port"),
    "serve: a card's URL that is none": ("serve --card-url nonsense", USAGE, "--card-url"),
    "assess: a file without a green agent": ("assess {quick}", USAGE, "green_agent.endpoint is missing"),
    "adapt: no port": ("adapt agent python", USAGE, "--port"),
    "adapt: a program that does not exist": ("adapt --port {free} agent no-such-program", USAGE, "no-such-program"),
    "adapt: a port in use": ("adapt --port {taken} agent python", USAGE, "cannot listen on"),
    "adapt: an open host without the card's URL": ("adapt --port {free} --host 0.0.0.0 a python", USAGE, "--card-url"),
    "evaluate: nothing": ("evaluate", USAGE, "give files or folders"),
    "evaluate: a format that no package reads": (
        "evaluate {trace} --format nonsense",
        USAGE,
        "unknown format nonsense",
    ),
    "evaluate: results": ("evaluate {results}", USAGE, "a results file, not a trace"),
    "evaluate: JSON of another kind": ("evaluate {json}", USAGE, "other.json"),
    "evaluate: an output of another kind": ("evaluate {trace} -o out.csv", USAGE, "use .json"),
    "evaluate: an output that cannot be written": ("evaluate {trace} -o {file}/rows.json", USAGE, "cannot be created"),
    "evaluate: a config with an unknown key": ("evaluate {trace} --config {config}", USAGE, "evidense"),
    "evaluate: a collector that is not there": ("evaluate --collector {closed}", FAILED, "cannot be read"),
    "evaluate: a collector's URL that is none": ("evaluate --collector nonsense", USAGE, "--collector"),
    "evaluate: a time that is none": ("evaluate --list --collector {closed} --since soon", USAGE, "--since soon"),
    "evaluate: no key for the judge": ("evaluate --rejudge {trace}", USAGE, "AGENTBEATS_LLM_API_KEY is not set"),
    "evaluate: two modes": ("evaluate --list --watch", USAGE, "give one of --list"),
    "evaluate: labels that are no labels": ("evaluate --rules --agreement {results}", USAGE, "results.json:1"),
    "evaluate: a number of samples out of range": ("evaluate --rejudge {trace} --samples 0", USAGE, "--samples"),
    "evaluate: a redaction that does not exist": ("evaluate {trace} --redact some", USAGE, "--redact"),
    "explain: results": ("explain {results}", USAGE, "a results file, not a trace"),
    "report: a trial that the row does not have": ("report {results} --trial none", USAGE, "'none'"),
    "report: an assessment that the file does not have": (
        "report {results} --assessment x",
        USAGE,
        "no assessment 'x'",
    ),
    "report: a truncated document": ("report {truncated}", USAGE, "truncated.json"),
    "report: a page that cannot be written": ("report {results} -o {file}/page.html", USAGE, "cannot be created"),
    "report: text with an option of a page": ("report {results} --text --open", USAGE, "--text goes with"),
    "report: groups of one row": ("report {results} --by nothing", USAGE, "compare many recorded traces"),
    "compare: one file": ("compare {results}", USAGE, "expected 2 to 20 results files, got 1"),
    "compare: one file twice": ("compare {results} {results}", USAGE, "given twice"),
    "gate: nothing to compare with": ("gate {quick}", USAGE, "nothing to compare with"),
    "gate: a margin out of range": ("gate {quick} --margin 200", USAGE, "--margin"),
    "gate: results without a baseline": ("gate {results}", USAGE, "give --baseline RESULTS"),
    "verify: a bundle that is not there": ("verify {results}", FAILED, "left no bundle"),
    "verify: a signature without a key": ("verify {results} --sign", USAGE, "no private key"),
    "verify: a key that is none": ("verify {results} --key {json}", USAGE, "not a public key"),
    "verify: a provenance that is none": ("verify {results} --provenance {list}", USAGE, "not a provenance file"),
    "verify: a green agent's URL that is none": (
        "verify {results} --bundle-from x",
        USAGE,
        "not the URL of a green agent",
    ),
    "verify: a green agent that is not there": ("verify {bundled} --bundle-from {closed}", FAILED, "{closed}"),
    "rows: a form that no table has": ("rows {results} -o table.xls", USAGE, ".parquet"),
    "rows: JSON and a file": ("rows {results} --json -o table.csv", USAGE, "--json"),
    "rows: what no table holds": ("rows {results} --of agents", USAGE, "--of"),
    "replay: an agent without its address": ("replay {json} --agent agent --causes", USAGE, "is not NAME=URL"),
    "replay: neither causes nor a message": ("replay {json} --agent a={closed}", USAGE, "give --causes, or a message"),
    "replay: a truncated bundle": ("replay {bundle} --agent a={closed} --causes", FAILED, "bundle.zip"),
    "audit: a name of nothing": ("audit no-such-suite", USAGE, "no-such-suite"),
    "audit: a number out of range": ("audit quick --instances 1", USAGE, "--instances"),
    "audit: an empty folder": ("audit {folder}", USAGE, "neither a scenario.json"),
    "tasks: a family that does not exist": ("tasks show nonsense", USAGE, "no family is called 'nonsense'"),
    "tasks: a shape that does not exist": ("tasks show maximum --topology cube", USAGE, "cube"),
    "tasks: a secret that is none": ("tasks generate maximum --secret xyz", USAGE, "hexadecimal"),
    "tasks: a file that is no task": ("tasks grade {json} {json}", USAGE, "no `family` and `key`"),
    "tasks: results without a secret": ("tasks reveal {results}", USAGE, "secret"),
    "scenario: a folder that is none": ("scenario lint {folder}", FAILED, "1 fault in 1 scenario"),
    "scenario: a name that is none": ("scenario new {folder}/Not-A-Name", USAGE, "small letters"),
    "scenario: a day that nobody published": ("scenario show office-1-77", USAGE, "no day in the office"),
    "run: a day that nobody published": ("run office-1-77", USAGE, "no day in the office"),
    "scenario: a secret that is none": ("scenario show office-1-01 --secret xyz", USAGE, "--secret"),
}
"""By name: the command line, its exit code, and what the line says."""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """What the command lines name, by placeholder."""
    monkeypatch.chdir(tmp_path)
    for name in ("AGENTBEATS_LLM_API_KEY", "CONCORD_SIGNING_KEY", "CONCORD_TASK_SECRET", "NO_SUCH_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "folder").mkdir()
    document = json.dumps({"participants": {}, "results": [row().model_dump(mode="json")]})
    bundled = json.dumps(
        {"results": [{"detail": {"assessment_id": "a" * 32, "bundle_sha256": "0" * 64}}], "participants": {}}
    )
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w") as bundle:
        bundle.writestr("manifest.json", document)
    (tmp_path / "bundle.zip").write_bytes((tmp_path / "bundle.zip").read_bytes()[:-40])
    files = {
        "results": ("results.json", document),
        "truncated": ("truncated.json", document[: len(document) // 2]),
        "bundled": ("bundled.json", bundled),
        "json": ("other.json", '{"a": 1}'),
        "list": ("list.json", "[]"),
        "file": ("file", ""),
        "unknown_key": ("key.toml", '[[participant]]\nrole = "a"\n'),
        "unknown_suite": ("suite.toml", QUICK.read_text().replace('"quick"', '"no-such-suite"')),
        "models": ("models.toml", '[[models]]\nname = "one"\nmodel = "m"\nkey = "NO_SUCH_KEY"\n'),
        "config": ("config.toml", 'evidense = "any"\n'),
    }
    for name, content in files.values():
        (tmp_path / name).write_text(content)
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.socket() as bound, socket.socket() as free:
        bound.bind(("127.0.0.1", 0))
        free.bind(("127.0.0.1", 0))
        free_port = free.getsockname()[1]
        free.close()
        yield {
            **{key: str(tmp_path / name) for key, (name, _) in files.items()},
            "folder": str(tmp_path / "folder"),
            "bundle": str(tmp_path / "bundle.zip"),
            "trace": str(TRACE),
            "quick": str(QUICK),
            "taken": str(taken.getsockname()[1]),
            "free": str(free_port),
            "closed": f"http://127.0.0.1:{bound.getsockname()[1]}",
        }


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_input_is_one_line_that_says_what_is_wrong(name: str, places: dict[str, str]) -> None:
    words, code, reason = WRONG[name]
    result = CliRunner().invoke(app, [each.format(**places) for each in words.split()])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == code, result.output
    [line] = result.stderr.splitlines()
    assert line.startswith("concord: ")
    assert reason.format(**places) in line
