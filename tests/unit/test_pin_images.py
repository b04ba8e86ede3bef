"""`deploy/pin-images`: base images by digest, as the registry has them."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OLD, NEW = ("sha256:" + letter * 64 for letter in "ab")

Pin = Callable[[str], int]


@pytest.fixture
def pin(tmp_path: Path) -> Pin:
    """Runs the script in a copy of the files, with a registry that returns this answer for every image."""
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    shutil.copy(ROOT / "docker-compose.yaml", tmp_path)
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()

    def run(answer: str) -> int:
        docker.write_text(f"#!/bin/sh\necho '{answer}'\n")
        docker.chmod(0o755)
        environment = os.environ | {"PATH": f"{docker.parent}:{os.environ['PATH']}"}
        script = str(tmp_path / "deploy" / "pin-images")
        return subprocess.run([script], env=environment, capture_output=True, check=False).returncode

    return run


def base_images(folder: Path) -> set[str]:
    """The images that the Dockerfiles build on, and Redis's image in the stack and in Kubernetes."""
    files = [*folder.glob("deploy/*.Dockerfile"), folder / "docker-compose.yaml"]
    files += folder.glob("deploy/kubernetes/components/*/redis.yaml")
    lines = [line.split() for file in files for line in file.read_text().splitlines() if len(line.split()) > 1]
    return {words[1] for words in lines if words[0] == "FROM" or (words[0] == "image:" and "redis" in words[1])}


def test_all_base_images_get_the_digest_of_the_registry(pin: Pin, tmp_path: Path) -> None:
    assert pin(OLD) == 0
    assert base_images(tmp_path) == {f"python:3.13-slim@{OLD}", f"redis:8-alpine@{OLD}"}


def test_a_newer_digest_replaces_the_older_one(pin: Pin, tmp_path: Path) -> None:
    assert (pin(OLD), pin(NEW)) == (0, 0)
    assert base_images(tmp_path) == {f"python:3.13-slim@{NEW}", f"redis:8-alpine@{NEW}"}


def test_without_a_digest_nothing_is_changed(pin: Pin, tmp_path: Path) -> None:
    assert pin("manifest unknown") == 1
    assert base_images(tmp_path) == base_images(ROOT)
