"""The documents: their links, paths, tests and commands exist, and they state the names and limits of the code."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest
import typer
from pydantic_settings import BaseSettings

from concord.assessment import AssessmentConfig, Thresholds
from concord.assessment.scorers import MAX_PATTERN, MAX_TARGETS, SCORER_CHOICE, SCORER_NAMES
from concord.assessment.verdict import KINDS_OF_PARTS
from concord.assessment.verdict_text import CAUSE_WORDS
from concord_assistant.evaluation.built_in import BUILT_IN
from concord_assistant.evaluation.evaluator_process import Limits
from concord_assistant.office.families import FAMILIES as ERRANDS
from concord_assistant.scenario.loader import scenario_folders
from concord_cli.audit import flaws
from concord_cli.audit.flaws import FLAWS, ITEMS, Attack
from concord_cli.commands.old_names import KEPT, present
from concord_cli.main import app
from concord_cli.report import day, journey, work
from concord_cli.report.calls import MAX_CALLS
from concord_cli.report.graph.drawing import DENSE, MAX_AGENTS
from concord_cli.report.timeline import MAX_LANES
from concord_cli.row_view import assistant
from concord_cli.row_view.flows import MAX_FLOWS
from concord_cli.row_view.metrics import MAX_AGENTS as MAX_MEASURED
from concord_cli.tasks.command import mean_chance
from concord_collector.settings import CollectorSettings
from concord_environment.settings import EnvironmentSettings
from concord_evaluator.metrics.registry import as_table
from concord_evaluator.settings import EvaluatorSettings
from concord_gateway.drivers.live import MAX_ANSWER
from concord_gateway.settings import GatewaySettings
from concord_purple.settings import PurpleSettings
from concord_suites import FAMILIES

DOCUMENTS: Final = [
    *(Path(f"{name}.md") for name in ("README", "CONTRIBUTING", "SECURITY")),
    *sorted(Path("docs").glob("*.md")),
]
EACH: Final = pytest.mark.parametrize("document", DOCUMENTS, ids=str)

FOLDERS: Final = (
    "assistant",
    "cli",
    "data",
    "deploy",
    "docs",
    "examples",
    "lab",
    "locks",
    "scenarios",
    "scripts",
    "services",
    "shared",
    "suites",
    "tests",
)


def code_in(document: Path) -> Iterator[str]:
    """The texts that a document shows as code: spans, and lines of blocks, without the shell's continuations."""
    text = document.read_text(encoding="utf-8")
    for block in re.findall(r"^```(?:sh)?\n(.*?)^```|((?:^ {4}\S.*\n)+)", text, re.MULTILINE | re.DOTALL):
        yield from "".join(block).replace("\\\n", " ").splitlines()
    yield from re.findall(r"(?<!`)`([^`\n]+)`(?!`)", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


@EACH
def test_every_link_to_a_file_or_a_section_resolves(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", document.read_text(encoding="utf-8"))
    assert [path for path, _ in links if not (document.parent / path).exists()] == []
    sections = [(document.parent / path if path else document, name) for path, name in links if name]
    assert [(str(path), name) for path, name in sections if name not in anchors(path)] == []


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@EACH
def test_every_path_and_every_test_that_is_named_exists(document: Path) -> None:
    text = re.sub(r"\[[^\]]*\]\([^)]*\)", "", document.read_text(encoding="utf-8"))
    named = re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w./*-]*\w(?:::\w+)?)`", text)
    assert [each for each in named if not _exists(*each.partition("::")[::2])] == []


def _exists(path: str, test: str) -> bool:
    found = list(Path().glob(path))
    return bool(found) and (not test or re.search(rf"\bdef {test}\(", found[0].read_text(encoding="utf-8")) is not None)


@EACH
def test_every_command_exists_with_its_options(document: Path) -> None:
    wrong = [fault for line in code_in(document) for fault in faults_of(line)]
    assert wrong == []


TARGETS: Final = set(re.findall(r"^([a-z][\w-]*):", Path("Makefile").read_text(encoding="utf-8"), re.MULTILINE))
PARTS: Final = set(
    re.findall(r'^    "([\w-]+)": Part\(', Path("lab/__main__.py").read_text(encoding="utf-8"), re.MULTILINE)
)


def faults_of(line: str) -> Iterator[str]:
    """What of a line of code names no target, part of the laboratory, module, script, command or option."""
    words = _words(line)
    for place, word in enumerate(words[:-1]):
        following = words[place + 1]
        if word == "make" and place == 0 and following not in TARGETS:
            yield f"make {following}"
        if word == "make" and following == "lab":
            yield from (each for each in words if each.startswith("NAME=") and each[5:] not in PARTS)
        if (
            word == "-m"
            and re.fullmatch(r"(?:lab|locks|tests|concord_\w+)[\w.]*", following)
            and not find_spec(following)
        ):
            yield f"-m {following}"
    if (
        words
        and re.fullmatch(r"(?:\./)?(?:scripts|locks|deploy)/[\w-]+(?:\.sh)?", words[0])
        and not Path(words[0]).exists()
    ):
        yield words[0]
    if words[:1] == ["concord"] and len(words) > 1:
        yield from _unknown_to_concord(present(words[1:]) if words[1] in KEPT else words[1:])


def _words(line: str) -> list[str]:
    """The words of a line up to the end of its first command; none if it is no command."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return []
    while words and re.fullmatch(r"\w+=\S*", words[0]):
        words = words[1:]
    end = next(
        (at for at, word in enumerate(words) if word in {"|", "&&", "||", ";", ">", "<"} or word.endswith(";")),
        len(words),
    )
    return words[:end]


def _unknown_to_concord(words: list[str]) -> Iterator[str]:
    command, path = typer.main.get_command(app), ["concord"]
    while isinstance(command, typer.core.TyperGroup) and words and re.fullmatch(r"[a-z][a-z-]*", words[0]):
        if words[0] not in command.commands:
            yield " ".join([*path, words[0]])
            return
        command, path, words = command.commands[words[0]], [*path, words[0]], words[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for word in words:
        option = word.partition("=")[0]
        if re.fullmatch(r"--[a-z][a-z-]*", option) and option not in known | {"--help"}:
            yield " ".join([*path, option])


def variables_of(settings: type[BaseSettings], prefix: str = "CONCORD_") -> list[str]:
    fields = settings.model_fields.items()
    return [f"`{field.validation_alias or f'{prefix}{name.upper()}'}`" for name, field in fields]


def options_of(scorer: str) -> Iterator[str]:
    """The options of a scorer with their defaults, as the document writes them."""
    written = {"True": "true", "False": "false", "None": "none", "end": '`"end"`', "0": "0", "[]": "[]", "{}": "{}"}
    schema = SCORER_CHOICE.json_schema(by_alias=True)["$defs"][f"{scorer.capitalize()}Scorer"]["properties"]
    for option, each in schema.items():
        if option != "name":
            yield f"`{option}` {written[str(each['default'])]}" if "default" in each else f"`{option}`"


LIMITS: Final = Limits()
STATED: Final[Mapping[str, Iterable[str]]] = {
    "assessments: keys of the config": [f"`{key}`" for key in AssessmentConfig.model_fields],
    "assessments: scorers": [f"| `{name}` |" for name in SCORER_NAMES],
    "assessments: options of scorers": [option for name in SCORER_NAMES for option in options_of(name)],
    "assessments: limits of scorers": [
        f"or up to {MAX_TARGETS} of them",
        f"An answer of more than {MAX_ANSWER:,} characters is not graded",
        f"at most {MAX_PATTERN:,} characters",
    ],
    "running: settings of the services": [
        name for settings in (CollectorSettings, EvaluatorSettings, GatewaySettings) for name in variables_of(settings)
    ],
    "running: settings of participants": variables_of(PurpleSettings, "PURPLE_"),
    "environment: settings": variables_of(EnvironmentSettings),
    "metrics: table (python -m concord_evaluator.metrics)": ["\n".join(as_table())],
    "metrics: thresholds": [
        f"`{field.alias or name}` ({field.default:g})" for name, field in Thresholds.model_fields.items()
    ],
    "tasks: families": [
        f"| {family.name} | {family.group} | {family.seats[0]} to {family.seats[-1]} | {mean_chance(family):.2f} |"
        for family in FAMILIES
    ],
    "tasks: causes of parts": [f"| `{kind}` |" for kind in KINDS_OF_PARTS],
    "scoring: causes": [f"| `{kind}` | {words.deed} |" for kind, words in CAUSE_WORDS.items()],
    "criteria: evaluators": [f"`{name}`" for name in BUILT_IN],
    "criteria: limits": [
        f"| {LIMITS.criterion_s:g} s,",
        f"| {LIMITS.output_bytes // 1024} KiB",
    ],
    "scenarios: what is shipped": [f"`{name}`, " for name in scenario_folders(Path("scenarios/assistant"))],
    "scenarios: families": [f"| `{name}` |" for name in ERRANDS],
    "integrity: flaws": [f"| {flaw.value}: {words} |" for flaw, words in FLAWS.items()],
    "integrity: items": [f"| {item} {words} |" for item, words in ITEMS.items()],
    "integrity: attacks": [
        f"| {each.name} | {each.flaw.value} |" for each in vars(flaws).values() if isinstance(each, Attack)
    ],
    "reports: limits": [
        f"| agents in the graph | {MAX_AGENTS} |",
        f"| flows in the table | {MAX_FLOWS} |",
        f"| agents in the table of metrics | {MAX_MEASURED} |",
        f"| calls on a page | {MAX_CALLS:,} |",
        f"| criteria in full | {assistant.MAX_CARDS} |",
        f"| turns of assistants on a page | {day.MAX_TURNS} |",
        f"| actions and events of others on a page | {day.MAX_ENTRIES:,} |",
        f"| causes of one trial | {work.MAX_LINES} |",
        f"| messages in a flow of facts | {journey.MAX_LINES} |",
        f"| lanes in a flow of facts | {journey.MAX_LANES} |",
        f"| facts in the table of who knew what | {journey.MAX_FACTS} |",
        f"| seats in the table of who knew what | {journey.MAX_SEATS} |",
        f"| lanes in a timeline | {MAX_LANES} |",
        f"drawn faintly from {DENSE} on",
    ],
}
"""What a document of `docs/` must say, by its name and the subject."""


@pytest.mark.parametrize("subject", STATED)
def test_a_document_states_the_names_and_limits_of_the_code(subject: str) -> None:
    text = Path("docs", f"{subject.partition(':')[0]}.md").read_text(encoding="utf-8")
    assert [each for each in STATED[subject] if each not in text] == []


def test_every_glossary_term_is_unique() -> None:
    lines = Path("docs/glossary.md").read_text(encoding="utf-8").splitlines()
    terms = [line.split("|")[1].strip() for line in lines if line.startswith("| ")]
    assert sorted(set(terms) - {"Term"}) == sorted(term for term in terms if term != "Term")


@pytest.mark.parametrize(
    "wrong",
    [
        "make nothing",
        "make lab NAME=nothing",
        "python -m lab.nothing",
        "scripts/nothing.sh",
        "concord nothing",
        "A=1 concord run --nothing x",
    ],
)
def test_a_command_that_does_not_exist_is_a_fault(wrong: str) -> None:
    assert list(faults_of(wrong))
    assert not list(faults_of("make lab NAME=suites ARGUMENTS=--short && concord tasks estimate --help"))
