"""`results.json` on the gateway's disk, in the format that the platform's client writes."""

from contextlib import suppress
from pathlib import Path

from concord.assessment import AssessmentPlan
from concord.assessment.instances import secret_file
from concord.assessment.result_row import ResultRow, ResultsDocument
from concord.files import atomic_file
from concord.trust.redaction import redact


def write_results(output_dir: Path, plan: AssessmentPlan, row: ResultRow, *, keep: int) -> Path:
    """Writes `assessments/<id>.json`, then replaces `results.json`, and returns the latter's path. Raises OSError.

    Keeps the newest `keep` files in `assessments`. The secret of an assessment's tasks goes to a file of its own, which
    only its owner can read.
    """
    results = ResultsDocument(
        participants={entry.id: entry.agentbeats_id for entry in plan.roster if entry.agentbeats_id is not None},
        results=[row],
    )
    document = redact(results.model_dump_json(indent=2))
    _replace(output_dir / "assessments" / f"{plan.assessment_id}.json", document)
    _remove_old(output_dir / "assessments", keep)
    if plan.task_secret is not None:
        _replace(secret_file(output_dir, plan.assessment_id), plan.task_secret, mode=0o600)
    latest = output_dir / "results.json"
    _replace(latest, document)
    return latest


def _remove_old(folder: Path, keep: int) -> None:
    written: list[tuple[int, Path]] = []
    for path in folder.glob("*.json"):
        with suppress(FileNotFoundError):  # a concurrent assessment may have removed it
            written.append((path.stat().st_mtime_ns, path))
    for _, path in sorted(written, reverse=True)[keep:]:
        path.unlink(missing_ok=True)


def _replace(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path, mode) as file:
        file.write(f"{text}\n".encode())
