"""The files that others read of the project: the citation, and the forms of issues."""

import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from concord.version import VERSION

ROOT = Path(__file__).parents[2]
FORMS = sorted(path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")

TEXT = {"type": "string", "minLength": 1}
CITATION = {
    "type": "object",
    "required": ["authors", "cff-version", "message", "title"],
    "additionalProperties": False,
    "properties": {
        "cff-version": {"const": "1.2.0"},
        "type": {"enum": ["software", "dataset"]},
        "authors": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["name"],
                "additionalProperties": False,
                "properties": {"name": TEXT},
            },
        },
        "keywords": {"type": "array", "minItems": 1, "uniqueItems": True, "items": TEXT},
        **dict.fromkeys(("abstract", "license", "message", "title", "version"), TEXT),
    },
}
"""What the schema of the Citation File Format 1.2.0 says of the keys in use. Its authors may also be persons."""

ELEMENT = {
    "type": "object",
    "required": ["type", "attributes"],
    "additionalProperties": False,
    "properties": {
        "type": {"enum": ["markdown", "textarea", "input", "dropdown", "checkboxes"]},
        "id": {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"},
        "attributes": {"type": "object"},
        "validations": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"required": {"type": "boolean"}},
        },
    },
    "if": {"properties": {"type": {"const": "markdown"}}},
    "then": {"properties": {"attributes": {"required": ["value"]}, "id": False, "validations": False}},
    "else": {"required": ["id"], "properties": {"attributes": {"required": ["label"]}}},
    "allOf": [
        {
            "if": {"properties": {"type": {"const": "dropdown"}}},
            "then": {"properties": {"attributes": {"required": ["label", "options"]}}},
        }
    ],
}
FORM = {
    "type": "object",
    "required": ["name", "description", "body"],
    "additionalProperties": False,
    "properties": {
        "name": TEXT,
        "description": TEXT,
        "labels": {"type": "array", "items": TEXT},
        "body": {
            "type": "array",
            "minItems": 1,
            "items": ELEMENT,
            "contains": {"properties": {"type": {"not": {"const": "markdown"}}}},
        },
    },
}
"""GitHub's syntax of issue forms: https://docs.github.com/communities/using-templates-to-encourage-useful-issues-and-pull-requests"""


def read(path: Path) -> Any:  # noqa: ANN401 - YAML
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_citation_keeps_its_format() -> None:
    jsonschema.validate(read(ROOT / "CITATION.cff"), CITATION)


def test_the_citation_says_what_the_distribution_says() -> None:
    citation, project = read(ROOT / "CITATION.cff"), tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert citation["version"] == VERSION
    assert (citation["license"], citation["keywords"]) == (project["license"], project["keywords"])


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_keeps_the_syntax_of_issue_forms(path: Path) -> None:
    form = read(path)
    jsonschema.validate(form, FORM)
    ids = [element["id"] for element in form["body"] if "id" in element]
    labels = [element["attributes"].get("label") for element in form["body"] if "id" in element]
    assert len(set(ids)) == len(ids)
    assert len(set(labels)) == len(labels)


def test_the_forms_are_those_of_a_fault_and_of_a_question() -> None:
    assert [path.stem for path in FORMS] == ["bug", "idea"]
    assert read(FORMS[0].with_name("config.yml")) == {"blank_issues_enabled": False}
