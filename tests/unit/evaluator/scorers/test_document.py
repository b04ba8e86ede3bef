"""docs/assessments.md: its section on scorers agrees with the code."""

import re
import tomllib
from pathlib import Path

import pytest

from concord.assessment import AssessmentConfig, TaskSpec
from concord.assessment.scorers import MAX_PATTERN, MAX_TARGETS, SCORER_CHOICE, SCORER_NAMES
from concord_evaluator.scorers.text_scorers import SEARCH_S
from concord_gateway.drivers.live import MAX_ANSWER
from tests.unit.evaluator.scorers.grades import value

SECTION = (
    Path("docs/assessments.md")
    .read_text(encoding="utf-8")
    .partition("## How answers are graded")[2]
    .partition("\n## ")[0]
)
ROWS = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", SECTION, re.MULTILINE))


def tasks() -> list[TaskSpec]:
    [toml] = re.findall(r"^```toml\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
    return AssessmentConfig.model_validate(tomllib.loads(toml)["config"]).tasks or []


def test_the_example_is_a_valid_config() -> None:
    assert {task.id: task.scorer and task.scorer.name for task in tasks()} == {
        "capital": "exact",
        "cost": "numeric",
        "table": "json",
    }


def test_the_document_names_every_scorer() -> None:
    assert tuple(ROWS) == SCORER_NAMES


@pytest.mark.parametrize("name", SCORER_NAMES)
def test_the_document_names_every_option_with_its_default(name: str) -> None:
    schema = SCORER_CHOICE.json_schema(by_alias=True)["$defs"][f"{name.capitalize()}Scorer"]["properties"]
    listed = dict(re.findall(r"`(\w+)`(?: ([^,]+))?(?:, |$)", ROWS[name].rpartition(" | ")[2]))
    written = {"True": "true", "False": "false", "None": "none", "end": '`"end"`', "0": "0", "[]": "[]", "{}": "{}"}
    assert listed == {
        option: written[str(each["default"])] if "default" in each else ""
        for option, each in schema.items()
        if option != "name"
    }


def test_the_documented_limits_are_those_of_the_code() -> None:
    assert f"or up to {MAX_TARGETS} of them" in SECTION
    assert f"An answer of more than {MAX_ANSWER:,} characters is not graded" in SECTION
    assert f"at most {MAX_PATTERN:,} characters" in SECTION
    assert "more than a second" in SECTION
    assert SEARCH_S == 1


def test_the_documented_examples_are_graded_as_described() -> None:
    assert value("exact", "5", "-5") == value("exact", "5", "5.0") == value("exact", "C", "C#") == 0
    for answer in ("1521", "3.5", "1,500", "-5"):
        assert value("includes", "5", answer) == value("includes", "1", answer) == 0
    assert value("includes", "cat", "concatenate") == 0
    for target, answer in {
        "1234.5": "1,234.5",
        "1234": "1 234",
        "1000": "1e3",
        "-5": "\N{MINUS SIGN}5",
        "0.5": "1/2",
        "12": "12 %",
    }.items():
        assert value("numeric", target, answer) == 1
    assert value({"name": "numeric", "tolerance": 0.1}, "0.2", "0.1") == 1
