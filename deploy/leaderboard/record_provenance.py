"""Writes provenance.json: the digests of a run's images and bundles, its time, and the workflow run.

`python record_provenance.py --compose docker-compose.yml --bundles output/bundles --output output/provenance.json`,
after the run. Exit code 1, with one line on standard error, if an image is not on this machine or a bundle cannot be
read.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import yaml

_TEMPLATE: Final = "{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}"
_RUN: Final = {
    "ref": "GITHUB_REF",
    "sha": "GITHUB_SHA",
    "workflow_ref": "GITHUB_WORKFLOW_REF",
    "workflow_sha": "GITHUB_WORKFLOW_SHA",
}


class ProvenanceError(Exception):
    """The provenance cannot be recorded; the message says why, on one line."""


def digest_of(image: str) -> str:
    """The digest in the image's registry; for an image built here, its id. Raises ProvenanceError."""
    command = ["docker", "image", "inspect", "--format", _TEMPLATE, image]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    except FileNotFoundError as error:
        raise ProvenanceError("docker is not installed") from error
    except subprocess.CalledProcessError as error:
        raise ProvenanceError(f"{image}: {error.stderr.strip()}") from error
    return done.stdout.strip()


def images_of(path: Path) -> dict[str, str]:
    """The images of a Compose file, by service. Raises ProvenanceError."""
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        return {name: service["image"] for name, service in document["services"].items()}
    except OSError as error:
        raise ProvenanceError(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise ProvenanceError(f"{path}: not a Compose file whose services all have an image") from error


def bundles_in(folder: Path) -> dict[str, str]:
    """The SHA-256 of each bundle in a folder, by assessment id. Raises ProvenanceError."""
    try:
        return {path.stem: sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.zip"))}
    except OSError as error:
        raise ProvenanceError(f"{error.filename}: {error.strerror}") from error


def workflow_run(environment: Mapping[str, str]) -> dict[str, str] | None:
    """The run of a GitHub workflow; None outside of one."""
    if "GITHUB_RUN_ID" not in environment:
        return None
    repository = f"{environment.get('GITHUB_SERVER_URL', '')}/{environment.get('GITHUB_REPOSITORY', '')}"
    run = f"{repository}/actions/runs/{environment['GITHUB_RUN_ID']}"
    api = f"{environment.get('GITHUB_API_URL', '')}/repos/{environment.get('GITHUB_REPOSITORY', '')}"
    logs = f"{api}/actions/runs/{environment['GITHUB_RUN_ID']}/logs"
    named = {key: environment.get(variable, "") for key, variable in _RUN.items()}
    return {"run_url": run, "run_logs_url": logs, "repository_url": repository, **named}


def main() -> int:
    """Writes the file. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Record the digests of the images that a run used.")
    parser.add_argument("--compose", type=Path, default=Path("docker-compose.yml"))
    parser.add_argument("--bundles", type=Path, default=Path("output/bundles"))
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    try:
        digests = {name: digest_of(image) for name, image in images_of(arguments.compose).items()}
        bundles = bundles_in(arguments.bundles)
    except ProvenanceError as error:
        print(f"record_provenance: {error}", file=sys.stderr)
        return 1
    provenance: dict[str, Any] = {
        "image_digests": digests,
        "bundle_digests": bundles,
        "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    if (run := workflow_run(os.environ)) is not None:
        provenance["github_actions"] = run
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(provenance, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
