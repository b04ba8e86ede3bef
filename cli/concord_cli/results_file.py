"""The results file: the document that the platform's client writes, there whole or not at all."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

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
    """Writes `{"participants": {role: agentbeats_id}, "results": [...]}`, replacing the file in one step."""
    document = json.dumps({"participants": dict(agentbeats_ids), "results": list(results)}, indent=2)
    replace_text(path, document + "\n")


def replace_text(path: Path, text: str) -> None:
    """Writes a file in one step: it is there whole or as it was. Raises OSError."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
