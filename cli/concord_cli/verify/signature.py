"""Signatures with ed25519: the statement that a leaderboard signs about results, and its file."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from pydantic import BaseModel, ConfigDict, JsonValue, StringConstraints, TypeAdapter, ValidationError

from concord.bundle import Sha256
from concord_cli.errors import UsageError
from concord_cli.input_files import content_of
from concord_cli.verify.differences import canonical_json

KEY_VARIABLE: Final = "CONCORD_SIGNING_KEY"
"""The environment variable with the private key as PEM, for workflows that keep it as a secret."""

MAX_BYTES: Final = 2**20
"""Bytes of a file with a signature, a key or a provenance."""

_CONTEXT: Final = b"concord-signature-v1\n"
"""A prefix of the signed bytes, so that a signature for another purpose is not valid here."""


class SignedRow(BaseModel):
    """A row of the results: the SHA-256 of its canonical JSON, of its bundle, and of the manifest in the bundle."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    assessment_id: str
    row_sha256: Sha256
    bundle_sha256: Sha256
    manifest_sha256: Sha256


class Statement(BaseModel):
    """The signed statement. `image_digests`: those of the provenance, by service; null without a provenance."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["concord-signature"] = "concord-signature"
    version: Literal[1] = 1
    results_sha256: Sha256
    rows: list[SignedRow]
    provenance_sha256: Sha256 | None = None
    image_digests: dict[str, str] | None = None


class SignatureFile(BaseModel):
    """The content of a `.sig` file. `signature` is in hex."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    statement: Statement
    signature: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{128}$")]

    def text(self) -> bytes:
        """The only form in which `concord verify --sign` writes the file."""
        return self.model_dump_json(indent=2).encode() + b"\n"


class SignatureError(Exception):
    """A signature is not valid for a statement. The message says why."""


def signature_file(results: Path) -> Path:
    """The path of a results file's signature. It does not end in `.json`, because the leaderboard's query reads those
    files."""
    return results.with_name(f"{results.name}.sig")


@dataclass(frozen=True, slots=True)
class Provenance:
    """A provenance file: its SHA-256, the digests of images by service, and those of bundles by assessment id."""

    sha256: str
    image_digests: dict[str, str]
    bundle_digests: dict[str, str]


def read_provenance(path: Path) -> Provenance:
    """Reads the file that `record_provenance.py` writes. Raises UsageError."""
    content = content_of(path, MAX_BYTES)
    try:
        document = TypeAdapter(dict[str, JsonValue]).validate_json(content)
        digests = TypeAdapter(dict[str, str]).validate_python(document.get("image_digests"))
        bundles = TypeAdapter(dict[str, str]).validate_python(document.get("bundle_digests", {}))
    except ValidationError as error:
        raise UsageError(f"{path}: is not a provenance file, which record_provenance.py writes") from error
    return Provenance(sha256(content).hexdigest(), digests, bundles)


def sign(statement: Statement, key: Ed25519PrivateKey) -> SignatureFile:
    """The statement with its signature."""
    return SignatureFile(statement=statement, signature=key.sign(_signed_bytes(statement)).hex())


def check_signature(path: Path, statement: Statement, key: Ed25519PublicKey) -> None:
    """Checks that a file has a signature of exactly this statement by the key. Raises SignatureError, UsageError."""
    content = content_of(path, MAX_BYTES)
    try:
        file = SignatureFile.model_validate_json(content)
    except ValidationError as error:
        raise SignatureError("is not a signature of Concord") from error
    if content != file.text():
        raise SignatureError("is not written as `concord verify --sign` writes it")
    try:
        key.verify(bytes.fromhex(file.signature), _signed_bytes(file.statement))
    except InvalidSignature as error:
        raise SignatureError("the signature was not made with this key") from error
    stated, actual = file.statement.model_dump(), statement.model_dump()
    if wrong := [name for name in actual if stated[name] != actual[name]]:
        raise SignatureError(f"is a signature of other files: {', '.join(wrong)} differ")


def private_key(path: Path | None) -> Ed25519PrivateKey:
    """The private key in a PEM file, else in `KEY_VARIABLE`. Raises UsageError without any part of the key."""
    content = os.environ.get(KEY_VARIABLE, "").encode() if path is None else content_of(path, MAX_BYTES)
    source = path or KEY_VARIABLE
    if not content:
        raise UsageError(f"no private key: give --key, or set {KEY_VARIABLE}")
    try:
        key = load_pem_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise UsageError(f"{source}: is not a private key in PEM without a password") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{source}: is not an ed25519 key: make one with `openssl genpkey -algorithm ed25519`")
    return key


def public_key(path: Path) -> Ed25519PublicKey:
    """The public key in a PEM file. Raises UsageError."""
    try:
        key = load_pem_public_key(content_of(path, MAX_BYTES))
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UsageError(f"{path}: is not a public key in PEM") from error
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(f"{path}: is not an ed25519 key")
    return key


def _signed_bytes(statement: Statement) -> bytes:
    return _CONTEXT + canonical_json(statement.model_dump(mode="json"))
