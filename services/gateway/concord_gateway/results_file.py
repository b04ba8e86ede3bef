"""`results.json` on the gateway's disk, in the format that the platform's client writes."""

import os
from contextlib import suppress
from pathlib import Path

from pydantic import JsonValue
from pydantic_core import to_json

from concord.assessment import AssessmentPlan
from concord.assessment.instances import secret_file
from concord.files import atomic_file
from concord.trust.redaction import redact


def write_results(output_dir: Path, plan: AssessmentPlan, row: JsonValue, *, keep: int) -> Path:
    """Writes `assessments/<id>.json`, then replaces `results.json`, and returns the latter's path. Raises OSError.

    `row`: a `ResultRow` as JSON. Keeps the newest `keep` files in `assessments`. The secret of an assessment's tasks
    goes to a file of its own, which only its owner can read.
    """
    participants = {entry.id: entry.agentbeats_id for entry in plan.roster if entry.agentbeats_id is not None}
    document = redact(to_json({"participants": participants, "results": [row]}, indent=2))  # a `ResultsDocument`
    _replace(output_dir / "assessments" / f"{plan.assessment_id}.json", document)
    _remove_old(output_dir / "assessments", keep)
    if plan.task_secret is not None:
        _replace(secret_file(output_dir, plan.assessment_id), plan.task_secret.encode(), mode=0o600)
    latest = output_dir / "results.json"
    _replace(latest, document)
    return latest


def _remove_old(folder: Path, keep: int) -> None:
    with os.scandir(folder) as found:  # which may be thousands
        files = [each for each in found if each.name.endswith(".json")]
    if len(files) <= keep:
        return
    written: list[tuple[int, str]] = []
    for each in files:
        with suppress(FileNotFoundError):  # a concurrent assessment may have removed it
            written.append((each.stat().st_mtime_ns, each.name))
    for _, name in sorted(written, reverse=True)[keep:]:
        (folder / name).unlink(missing_ok=True)


def _replace(path: Path, content: bytes, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path, mode) as file:
        file.write(content + b"\n")
