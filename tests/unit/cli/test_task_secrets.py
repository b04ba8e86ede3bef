"""The file with the secret of tasks: nobody else may read it, and git must ignore it."""

import subprocess
from pathlib import Path

import pytest

from concord_cli.errors import UsageError
from concord_cli.tasks.secrets import check_secrecy


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def secret(folder: Path, mode: int = 0o600) -> Path:
    path = folder / "secrets" / "a1"
    path.parent.mkdir()
    path.write_text("5e" * 32)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_other_accounts_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(UsageError, match="other accounts can read"):
        check_secrecy(secret(tmp_path, mode))


def test_a_file_outside_of_repositories_passes(tmp_path: Path) -> None:
    check_secrecy(secret(tmp_path))


def test_in_a_repository_only_a_file_that_git_ignores_passes(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    path = secret(tmp_path)
    with pytest.raises(UsageError, match="git tracks or would add the secret"):
        check_secrecy(path)
    (path.parent / ".gitignore").write_text("*\n")
    check_secrecy(path)
    git(tmp_path, "add", "--force", "secrets/a1")
    with pytest.raises(UsageError, match="git tracks or would add the secret"):
        check_secrecy(path)
