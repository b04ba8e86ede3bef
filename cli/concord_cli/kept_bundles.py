"""The bundles of assessments on a stack that ends: kept beside the results file."""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import JsonValue, ValidationError

from concord.assessment.result_row import ResultRow
from concord.bundle import bundle_file
from concord.files import atomic_file


def keep_bundles(gateway_output: Path, results: Sequence[JsonValue], output: Path) -> list[Path]:
    """Copies the bundles of a finished stack's assessments beside a results file, and returns them. Raises OSError."""
    kept = []
    for result in results:
        with suppress(ValidationError):
            detail = ResultRow.model_validate(result).detail
            if detail.bundle_sha256 is not None:
                path = bundle_file(output.parent, detail.assessment_id)
                path.parent.mkdir(exist_ok=True)
                written = bundle_file(gateway_output, detail.assessment_id)
                with written.open("rb") as source, atomic_file(path, 0o600) as file:
                    shutil.copyfileobj(source, file)
                kept.append(path)
    return kept
