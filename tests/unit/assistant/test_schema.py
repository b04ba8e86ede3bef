"""The shipped schema of assistants' results is that of the models."""

from pathlib import Path

from concord_assistant.schema import assessment_results_schema

SHIPPED = Path("data/schemas/assessment_results.schema.json")


def test_the_shipped_schema_is_that_of_the_models() -> None:
    command = f"python -m concord_assistant.schema > {SHIPPED}"
    assert SHIPPED.read_text(encoding="utf-8") == assessment_results_schema(), f"run: {command}"
