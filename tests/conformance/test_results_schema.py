"""The shipped JSON schema of results is that of the models, and suits the leaderboard."""

import json
from pathlib import Path

import jsonschema

from concord.assessment.schema import results_schema

SHIPPED = Path("data/schemas/results.schema.json")


def test_the_shipped_schema_is_that_of_the_models() -> None:
    assert SHIPPED.read_text(encoding="utf-8") == results_schema(), "run: python -m concord.assessment.schema > " + str(
        SHIPPED
    )


def test_the_shipped_schema_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(SHIPPED.read_text(encoding="utf-8")))


def test_no_object_has_keys_that_depend_on_data() -> None:
    """An object keyed by agents would give each team columns of its own. Only the platform's own part of a file has
    one."""
    schema = json.loads(results_schema())
    open_objects = {
        f"{name}.{field}"
        for name, model in {**schema["$defs"], "ResultsDocument": schema}.items()
        for field, declared in model.get("properties", {}).items()
        if declared.get("additionalProperties", False) is not False
    }
    assert open_objects == {"ResultsDocument.participants"}


def test_every_key_of_a_record_is_required() -> None:
    schema = json.loads(results_schema())
    records = {name: model for name, model in schema["$defs"].items() if model.get("type") == "object"}
    assert all(set(model["required"]) == set(model["properties"]) for model in records.values())
