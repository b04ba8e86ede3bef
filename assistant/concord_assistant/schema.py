"""`python -m concord_assistant.schema`: prints the JSON schema of `detail.assessment_results` in a row."""

import json

from pydantic import TypeAdapter

from concord_assistant.results import AssessmentResults


def assessment_results_schema() -> str:
    """The schema (JSON Schema 2020-12) of the list of results, indented."""
    schema = TypeAdapter(list[AssessmentResults]).json_schema(mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"


if __name__ == "__main__":
    print(assessment_results_schema(), end="")  # noqa: T201 - printing is what it is for
