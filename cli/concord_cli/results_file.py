"""The results file: the document that the platform's client writes, there whole or not at all."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue, ValidationError

from concord.assessment.results import ResultRow, ResultsDocument
from concord_cli.errors import UsageError


def prepare_folder(path: Path) -> None:
    """Makes the folder of a results file, before anything is spent on its content. Raises UsageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path.parent}: cannot be made: {error.strerror}") from error
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise UsageError(f"{path}: cannot be written")


def write_results(path: Path, agentbeats_ids: Mapping[str, str], results: Sequence[JsonValue]) -> None:
    """Writes `{"participants": {role: agentbeats_id}, "results": [...]}`, replacing the file in one step.

    A row of ours is written as its model has it, and a document of such rows byte for byte as the gateway writes it:
    what came over A2A has lost the order of its keys, and which of its numbers are whole. Other results stay as they
    came.
    """
    read = [_read(result) for result in results]
    rows = [each for each in read if isinstance(each, ResultRow)]
    if len(rows) == len(read):
        document = ResultsDocument(participants=dict(agentbeats_ids), results=rows).model_dump_json(indent=2)
    else:
        written = [each.model_dump(mode="json") if isinstance(each, ResultRow) else each for each in read]
        document = json.dumps({"participants": dict(agentbeats_ids), "results": written}, indent=2)
    replace_text(path, document + "\n")


def _read(result: JsonValue) -> ResultRow | JsonValue:
    try:
        return ResultRow.model_validate(result)
    except ValidationError:
        return result


def replace_text(path: Path, text: str) -> None:
    """Writes a file in one step: it is there whole or as it was. Raises OSError."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
