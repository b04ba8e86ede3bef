"""The secrets of assessments' tasks, which are revealed once no further run needs them."""

import os
from contextlib import suppress
from pathlib import Path

from concord.assessment.instances import secret_file
from concord.assessment.result_row import ResultRow
from concord.suite import commitment
from concord_cli.errors import UsageError


def revealed_secret(row: ResultRow, folder: Path) -> str:
    """The secret of a row's tasks (hex): from the environment, else from the gateway's output folder.

    Raises UsageError if the row has no such tasks, or no secret that fits its SHA-256 is there.
    """
    detail = row.detail
    if detail.task_secret_sha256 is None:
        raise UsageError(f"assessment {detail.assessment_id} has no tasks that follow from a secret")
    path = secret_file(folder, detail.assessment_id)
    candidates = [os.environ.get("CONCORD_TASK_SECRET", "")]
    with suppress(OSError):
        candidates.append(path.read_text(encoding="ascii"))
    for secret in map(str.strip, candidates):
        with suppress(ValueError):
            if commitment(bytes.fromhex(secret)) == detail.task_secret_sha256:
                return secret
    raise UsageError(
        f"neither CONCORD_TASK_SECRET nor {path} holds the secret with the SHA-256 {detail.task_secret_sha256}"
    )
