"""`results.json` on the gateway's disk, in the format that the platform's client writes."""

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
    paths = list(folder.glob("*.json"))
    if len(paths) <= keep:
        return
    written: list[tuple[int, Path]] = []
    for path in paths:
        with suppress(FileNotFoundError):  # a concurrent assessment may have removed it
            written.append((path.stat().st_mtime_ns, path))
    for _, path in sorted(written, reverse=True)[keep:]:
        path.unlink(missing_ok=True)


def _replace(path: Path, content: bytes, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path, mode) as file:
        file.write(content + b"\n")
