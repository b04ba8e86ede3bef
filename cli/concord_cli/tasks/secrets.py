"""The secrets of assessments' tasks, which are revealed once no further run needs them."""

import os
import shutil
import stat
import subprocess  # nosec B404
from contextlib import suppress
from pathlib import Path
from typing import Final

from concord.assessment.result_row import ResultRow
from concord.assessment.suite_tasks import secret_file
from concord.suite import commitment
from concord_cli.errors import UsageError

_NOT_IGNORED: Final = 1
"""The exit code of `git check-ignore` for a file that is tracked or not ignored; outside of repositories it is 128."""


def revealed_secret(row: ResultRow, folder: Path) -> str:
    """The secret of a row's tasks (hex): from the environment, else from the gateway's output folder.

    Raises UsageError if the row has no such tasks, if no secret that fits its SHA-256 is there, or if others can read
    its file: other accounts, or all who have the repository.
    """
    detail = row.detail
    if detail.task_secret_sha256 is None:
        raise UsageError(f"assessment {detail.assessment_id} has no tasks that follow from a secret")
    path = secret_file(folder, detail.assessment_id)
    candidates = [os.environ.get("CONCORD_TASK_SECRET", "")]
    if path.is_file():
        check_secrecy(path)
        candidates.append(path.read_text(encoding="ascii"))
    for secret in map(str.strip, candidates):
        with suppress(ValueError):
            if commitment(bytes.fromhex(secret)) == detail.task_secret_sha256:
                return secret
    raise UsageError(
        f"neither CONCORD_TASK_SECRET nor {path} holds the secret with the SHA-256 {detail.task_secret_sha256}"
    )


def check_secrecy(path: Path) -> None:
    """Raises UsageError for a file with a secret that other accounts can read, or that git does not ignore."""
    if stat.S_IMODE(path.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(f"{path}: other accounts can read the secret of the tasks: chmod 600 {path}")
    if (git := shutil.which("git")) is None:
        return
    folder = path.parent.resolve()
    asked = subprocess.run(  # noqa: S603  # nosec B603 - the name of a file that Concord has chosen
        [git, "check-ignore", "--quiet", "--", path.name], cwd=folder, capture_output=True, check=False
    )
    if asked.returncode == _NOT_IGNORED:
        raise UsageError(
            f"{path}: git tracks or would add the secret of the tasks, from which all answers follow: remove it from "
            "the repository, ignore it, and make new results with a new secret"
        )
