"""`python -m concord.assessment.schema`: prints the JSON schema of `results.json` that the repository ships."""

import json

from concord.assessment.result_row import ResultsDocument


def results_schema() -> str:
    """The schema (JSON Schema 2020-12) of the document, indented."""
    schema = ResultsDocument.model_json_schema(mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"


if __name__ == "__main__":
    print(results_schema(), end="")  # noqa: T201 - printing is what it is for
