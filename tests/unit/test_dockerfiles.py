"""The Dockerfiles: their base images, installation by hash, and users."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCKERFILES = sorted((ROOT / "deploy").glob("*.Dockerfile"))


def instructions(dockerfile: Path) -> list[list[str]]:
    """The instructions as words, continued lines joined, comments left out."""
    text = dockerfile.read_text().replace("\\\n", " ")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def test_there_is_one_dockerfile_for_each_image() -> None:
    kinds = {path.name.removesuffix(".Dockerfile") for path in DOCKERFILES}
    assert kinds == {"client", "collector", "environment", "evaluator", "gateway", "green", "purple", "sample"}


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.name)
def test_only_the_python_base_image_comes_from_a_registry(dockerfile: Path) -> None:
    words = instructions(dockerfile)
    bases = {line[1] for line in words if line[0] == "FROM"}
    # `deploy/pin-images` appends the digest.
    assert {re.sub("@sha256:[0-9a-f]{64}$", "", base) for base in bases} == {"python:3.13-slim"}
    assert len(bases) == 1
    sources = {word for line in words if line[0] == "COPY" for word in line if word.startswith("--from=")}
    assert sources == {"--from=builder"}
    # A syntax line would fetch its front end from a registry.
    assert "syntax=" not in dockerfile.read_text()


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.name)
def test_third_party_packages_are_installed_by_hash(dockerfile: Path) -> None:
    kind = dockerfile.name.removesuffix(".Dockerfile")
    text = dockerfile.read_text()
    for lock in ("build", kind):
        assert f"--require-hashes -r locks/{lock}.txt" in text
    assert "install --no-deps --no-index wheels/*.whl" in text


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.name)
def test_no_image_runs_as_root(dockerfile: Path) -> None:
    users = [line[1] for line in instructions(dockerfile) if line[0] == "USER"]
    assert users == ["concord"]


def test_a_release_publishes_every_image_with_its_bill_of_materials_and_digest() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/images.yml").read_text())
    publish = workflow["jobs"]["publish"]
    assert publish["strategy"]["matrix"]["kind"] == [path.name.removesuffix(".Dockerfile") for path in DOCKERFILES]
    [push] = [step["with"] for step in publish["steps"] if step.get("id") == "push"]
    assert (push["push"], push["sbom"], push["provenance"]) == (True, True, "mode=max")
    [taken] = [step for step in publish["steps"] if "SBOM" in step.get("run", "")]
    assert taken["env"]["IMAGE"].endswith("@${{ steps.push.outputs.digest }}")
