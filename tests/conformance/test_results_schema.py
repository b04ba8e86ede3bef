"""The schema that is shipped says what the program writes."""

import json
from pathlib import Path

import jsonschema

from concord.assessment.schema import results_schema

SHIPPED = Path("data/schemas/results.schema.json")


def test_the_shipped_schema_is_the_one_of_the_models() -> None:
    assert SHIPPED.read_text(encoding="utf-8") == results_schema(), "run: python -m concord.assessment.schema > " + str(
        SHIPPED
    )


def test_the_shipped_schema_is_a_valid_schema() -> None:
    import json

    jsonschema.Draft202012Validator.check_schema(json.loads(SHIPPED.read_text(encoding="utf-8")))


def test_no_key_depends_on_data_so_that_the_leaderboards_columns_keep_their_types() -> None:
    """Dictionaries keyed by agent would give every team columns of its own. Only the platform's own part has one."""
    schema = json.loads(results_schema())
    open_objects = {
        f"{name}.{field}"
        for name, model in {**schema["$defs"], "ResultsDocument": schema}.items()
        for field, declared in model.get("properties", {}).items()
        if declared.get("additionalProperties", False) is not False
    }
    assert open_objects == {"ResultsDocument.participants"}


def test_every_key_of_a_record_is_always_present() -> None:
    schema = json.loads(results_schema())
    records = {name: model for name, model in schema["$defs"].items() if model.get("type") == "object"}
    assert all(set(model["required"]) == set(model["properties"]) for model in records.values())
