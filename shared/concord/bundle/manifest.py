"""The manifest of a bundle, and the names of its members."""

from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MANIFEST: Final = "manifest.json"
PLAN: Final = "plan.json"
REQUEST: Final = "request.json"
ROW_INPUTS: Final = "row-inputs.json"

TrialMember = Literal["outcome.json", "inputs.json", "failure.json", "reports.jsonl", "conducted.json"]

MAX_CONTENT: Final = 256 * 2**20
"""Bytes of all members of a bundle together, uncompressed. Reports compress about tenfold."""

MAX_FILE: Final = MAX_CONTENT + 2**24
"""The highest number of bytes of a bundle's file, for content that does not compress."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Member(BaseModel):
    """A member of a bundle: its name, its length in bytes and the SHA-256 of its content (hex)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    bytes: Annotated[int, Field(ge=0)]
    sha256: Sha256


class Manifest(BaseModel):
    """The content of `manifest.json`: every other member, in the order of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["concord-bundle"] = "concord-bundle"
    version: Literal[2] = 2
    assessment_id: str
    task_secret_sha256: Sha256 | None
    """The commitment to the secret in the plan. Null if no task follows from a secret."""
    members: list[Member]


def trial_member(trial_id: str, name: TrialMember) -> str:
    """The name of a member that belongs to a trial."""
    return f"trials/{trial_id}/{name}"


def bundle_file(output_dir: Path, assessment_id: str) -> Path:
    """The path of an assessment's bundle below a gateway's output folder, or below the folder of a results file."""
    return output_dir / "bundles" / f"{assessment_id}.zip"
