"""Keeps the task secrets and bundles of a finished stack's assessments beside the results file."""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import JsonValue, ValidationError

from concord.assessment.result_row import Detail, ResultRow
from concord.assessment.suite_tasks import secret_file
from concord.bundle import bundle_file
from concord.files import atomic_file


def keep_files(gateway_output: Path, results: Sequence[JsonValue], output: Path) -> None:
    """Copies the secrets and bundles of all rows beside the results file `output`, as far as the gateway could write
    them. Git ignores the secrets. Raises OSError."""
    details: list[Detail] = []
    for result in results:
        with suppress(ValidationError):
            details.append(ResultRow.model_validate(result).detail)
    for detail in details:
        if detail.task_secret_sha256 is not None:
            kept = secret_file(output.parent, detail.assessment_id)
            kept.parent.mkdir(exist_ok=True)
            (kept.parent / ".gitignore").write_text("*\n")
            _copy(secret_file(gateway_output, detail.assessment_id), kept)
    for detail in details:
        if detail.bundle_sha256 is not None:
            _copy(bundle_file(gateway_output, detail.assessment_id), bundle_file(output.parent, detail.assessment_id))


def _copy(written: Path, kept: Path) -> None:
    if not written.exists():
        return
    kept.parent.mkdir(exist_ok=True)
    with written.open("rb") as source, atomic_file(kept, 0o600) as file:
        shutil.copyfileobj(source, file)
