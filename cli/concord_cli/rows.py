"""The rows of results files, as the platform's client, the gateway and `concord evaluate` write them."""

from pathlib import Path

from pydantic import ValidationError

from concord.assessment.results import ResultRow, ResultsDocument
from concord_cli.errors import UsageError
from concord_cli.report.text import shortened
from concord_cli.scenario import reasons


def read_rows(path: Path) -> list[ResultRow]:
    """The rows of a results file: the document, or `.jsonl` with a row to a line. Raises UsageError."""
    try:
        text = path.read_bytes()
        if path.suffix == ".jsonl":
            return [ResultRow.model_validate_json(line) for line in text.splitlines() if line.strip()]
        return ResultsDocument.model_validate_json(text).results
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except ValidationError as error:
        raise UsageError(f"{path}: not results of Concord: {shortened(reasons(error), 300)}") from error
