"""Bundles: one file per assessment, from which anybody can compute the assessment's row again."""

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Annotated, BinaryIO, Final, Literal, Self, TypeVar
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from concord.assessment import AssessmentPlan, AssessmentRequest, TrialSpec
from concord.assessment.jobs import RowInputs, TrialInputs
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.results import TrialOutcome
from concord.files import first_fault, read_bounded
from concord.trace.report import ReportBatch, pack, unpack

# The manifest of a bundle, and the names of its members.

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


# The contents of a bundle: its members, parsed and checked against each other.

_BATCH: Final = TypeAdapter(ReportBatch)

_ModelT = TypeVar("_ModelT", bound=BaseModel)


class BundleError(Exception):
    """A bundle that is damaged or contradicts itself. `faults`: one line for each fault."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


@dataclass(frozen=True, slots=True)
class TrialContents:
    """The inputs of one trial. None: the trial did not reach this stage.

    `failure`: the reason why the trial could not be evaluated. `conducted`: the record of an assistant's turns, as
    JSON.
    """

    outcome: TrialOutcome | None
    inputs: TrialInputs | None
    failure: InfrastructureFailure | None
    batches: tuple[ReportBatch, ...]
    conducted: bytes | None


@dataclass(frozen=True, slots=True)
class Contents:
    """The inputs of a row. `trials`: by trial id."""

    plan: AssessmentPlan
    request: AssessmentRequest
    row_inputs: RowInputs
    trials: Mapping[str, TrialContents]


def contents_of(manifest: Manifest, members: Mapping[str, bytes]) -> Contents:
    """Parses the members. Raises BundleError for an invalid member, or members that contradict each other."""
    plan = _parsed(AssessmentPlan, PLAN, members)
    contents = Contents(
        plan=plan,
        request=_request(members),
        row_inputs=_parsed(RowInputs, ROW_INPUTS, members),
        trials={trial.trial_id: _trial(trial, members) for trial in plan.trials},
    )
    if faults := [*_contradictions(manifest, members, contents)]:
        raise BundleError(faults)
    return contents


def _trial(trial: TrialSpec, members: Mapping[str, bytes]) -> TrialContents:
    def optional(model: type[_ModelT], name: TrialMember) -> _ModelT | None:
        member = trial_member(trial.trial_id, name)
        return _parsed(model, member, members) if member in members else None

    return TrialContents(
        outcome=optional(TrialOutcome, "outcome.json"),
        inputs=optional(TrialInputs, "inputs.json"),
        failure=optional(InfrastructureFailure, "failure.json"),
        batches=_batches(trial_member(trial.trial_id, "reports.jsonl"), members),
        conducted=members.get(trial_member(trial.trial_id, "conducted.json")),
    )


def _parsed(model: type[_ModelT], name: str, members: Mapping[str, bytes]) -> _ModelT:
    if name not in members:
        raise BundleError([f"{name}: is missing"])
    try:
        return model.model_validate_json(members[name])
    except ValidationError as error:
        raise BundleError([f"{name}: {first_fault(error)}"]) from error


def _request(members: Mapping[str, bytes]) -> AssessmentRequest:
    """The request, validated as a gateway does it: from Python objects instead of JSON."""
    try:
        return AssessmentRequest.model_validate(json.loads(members[REQUEST]))
    except KeyError as error:
        raise BundleError([f"{REQUEST}: is missing"]) from error
    except ValidationError as error:
        raise BundleError([f"{REQUEST}: {first_fault(error)}"]) from error
    except (ValueError, RecursionError) as error:
        raise BundleError([f"{REQUEST}: is not JSON: {error}"]) from error


def _batches(name: str, members: Mapping[str, bytes]) -> tuple[ReportBatch, ...]:
    try:
        return tuple(map(batch_of_line, members.get(name, b"").splitlines()))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BundleError([f"{name}: has a line that is not a batch of reports: {error}"]) from error


def batch_of_line(line: bytes) -> ReportBatch:
    """The batch in a line of `reports.jsonl`.

    Raises ValueError, TypeError, KeyError, AttributeError or RecursionError for another line.
    """
    document = json.loads(line)
    body = document["body"].encode("utf-8", "surrogateescape")
    return _BATCH.validate_python({**document, "body": pack(body)})


def _contradictions(manifest: Manifest, members: Mapping[str, bytes], contents: Contents) -> Iterable[str]:
    plan = contents.plan
    if plan.assessment_id != manifest.assessment_id:
        yield f"{PLAN}: is of the assessment {plan.assessment_id}, not {manifest.assessment_id}"
    if plan.task_commitment != manifest.task_secret_sha256:
        yield f"{PLAN}: the task secret has the SHA-256 {plan.task_commitment}, not {manifest.task_secret_sha256}"
    known = {PLAN, REQUEST, ROW_INPUTS}
    for trial in plan.trials:
        of_trial = contents.trials[trial.trial_id]
        known |= {name for name in members if name.startswith(f"trials/{trial.trial_id}/")}
        outcome = of_trial.outcome
        if outcome is not None and outcome.trial_id != trial.trial_id:
            yield f"{trial_member(trial.trial_id, 'outcome.json')}: is of {outcome.trial_id}"
        strangers = sorted({batch.trace_id for batch in of_trial.batches} - {trial.trace_id})
        if strangers:
            yield f"{trial_member(trial.trial_id, 'reports.jsonl')}: has reports of the trace {strangers[0]}"
    yield from (f"{name}: belongs to no trial of the plan" for name in members if name not in known)


# Reads a bundle, and names each member that does not match the manifest.

MAX_MANIFEST: Final = 8 * 2**20
"""Bytes of a manifest. 10,000 trials have 5 MB."""

_BROKEN: Final = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)
"""The errors that reading a damaged ZIP file raises."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle whose members all match its manifest. `sha256`: of the file (hex)."""

    manifest: Manifest
    members: Mapping[str, bytes]
    sha256: str
    manifest_sha256: str


def read_bundle(path: Path) -> Bundle:
    """Reads a bundle into memory.

    Raises BundleError with one line for each fault: the file is not a ZIP file, a size exceeds its limit, or a member
    is missing, undeclared, duplicated or different from the manifest.
    """
    try:
        content = read_bounded(path, MAX_FILE)
    except OSError as error:
        raise BundleError([f"{error.strerror}"]) from error
    try:
        with ZipFile(BytesIO(content)) as archive:
            entries = archive.infolist()
            manifest, text = _manifest(archive, entries)
            if faults := [*_misfits(manifest, entries)]:
                raise BundleError(faults)
            members, faults = {}, []
            for member in manifest.members:
                found = _content(archive, member.name)
                members[member.name] = found or b""
                if found is None:
                    faults.append(f"{member.name}: is damaged")
                elif sha256(found).hexdigest() != member.sha256:
                    faults.append(f"{member.name}: does not have the SHA-256 {member.sha256} of the manifest")
    except _BROKEN as error:
        raise BundleError([f"is not a bundle: {error}"]) from error
    if faults:
        raise BundleError(faults)
    return Bundle(manifest, members, sha256(content).hexdigest(), sha256(text).hexdigest())


def _manifest(archive: ZipFile, entries: list[ZipInfo]) -> tuple[Manifest, bytes]:
    found = [entry for entry in entries if entry.filename == MANIFEST]
    if len(found) != 1:
        raise BundleError([f"has {'no' if not found else 'more than one'} {MANIFEST}"])
    if found[0].file_size > MAX_MANIFEST:
        raise BundleError([f"{MANIFEST}: is larger than {MAX_MANIFEST} bytes"])
    text = _content(archive, MANIFEST)
    try:
        if text is None:
            raise BundleError([f"{MANIFEST}: is damaged"])
        return Manifest.model_validate_json(text), text
    except ValidationError as error:
        raise BundleError([f"{MANIFEST}: {first_fault(error)}"]) from error


def _misfits(manifest: Manifest, entries: list[ZipInfo]) -> Iterator[str]:
    """The differences in names and sizes between the manifest and the file."""
    sizes = {entry.filename: entry.file_size for entry in entries if entry.filename != MANIFEST}
    declared = {member.name: member.bytes for member in manifest.members}
    if sum(declared.values()) > MAX_CONTENT:
        yield f"has more than {MAX_CONTENT} bytes of content"
    counted = Counter([entry.filename for entry in entries]) | Counter([each.name for each in manifest.members])
    yield from (f"{name}: occurs more than once" for name, times in sorted(counted.items()) if times > 1)
    yield from (f"{name}: is missing" for name in declared if name not in sizes)
    yield from (f"{name}: is not in the manifest" for name in sizes if name not in declared)
    yield from (
        f"{name}: has {sizes[name]} bytes, not the {length} of the manifest"
        for name, length in declared.items()
        if sizes.get(name, length) != length
    )


def _content(archive: ZipFile, name: str) -> bytes | None:
    """The content of a member; None if the member is damaged. Decompression stops at the length that the ZIP file
    states."""
    try:
        return archive.read(name)
    except _BROKEN:
        return None


# Writes a bundle: a ZIP file whose bytes depend on the members alone.

_LEVEL: Final = 6
_OWNER_ONLY: Final = 0o100600 << 16
_UNIX: Final = 3


class BundleTooLargeError(Exception):
    """The members exceed `MAX_CONTENT` bytes."""


class BundleWriter:
    """Writes members one after the other, and at the end the manifest. A context manager, while the file is open."""

    def __init__(self, file: BinaryIO, max_content: int = MAX_CONTENT) -> None:
        self._archive = ZipFile(file, "w", ZIP_DEFLATED, compresslevel=_LEVEL)
        self._members: list[Member] = []
        self._left = self._max_content = max_content

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(OSError, ValueError):  # of an archive that is given up: `close` has raised all others
            self._archive.close()

    def add(self, name: str, content: str) -> None:
        """Writes a member at once. Raises BundleTooLargeError."""
        with self.member(name) as write:
            write(content.encode())

    @contextmanager
    def member(self, name: str) -> Iterator[Callable[[bytes], None]]:
        """A member that is written piece by piece. Writing raises BundleTooLargeError."""
        digest, length = sha256(), 0
        with self._archive.open(_entry(name), "w") as member:

            def write(piece: bytes) -> None:
                nonlocal length
                length += len(piece)
                if length > self._left:
                    raise BundleTooLargeError(f"its members exceed {self._max_content} bytes")
                digest.update(piece)
                member.write(piece)

            yield write
        self._left -= length
        self._members.append(Member(name=name, bytes=length, sha256=digest.hexdigest()))

    def close(self, assessment_id: str, task_commitment: str | None) -> None:
        """Writes the manifest and the end of the file."""
        manifest = Manifest(
            assessment_id=assessment_id, task_secret_sha256=task_commitment, members=list(self._members)
        )
        with self._archive.open(_entry(MANIFEST), "w") as member:
            member.write(manifest.model_dump_json(indent=1).encode())
        self._archive.close()


def report_line(batch: ReportBatch) -> bytes:
    """A line of `reports.jsonl`: the batch's head, and its body as the text of a `StepBatch`. Raises zlib.error."""
    # The body is a text, not an object, because the digests of steps depend on the bytes that their reporter wrote.
    text = unpack(batch.body).decode("utf-8", "surrogateescape")
    head = _BATCH.dump_python(batch, mode="json", exclude={"body"})
    return json.dumps({**head, "body": text}, separators=(",", ":")).encode() + b"\n"


def _entry(name: str) -> ZipInfo:
    """A member without a time and without the system's settings, so that equal contents result in equal bytes."""
    entry = ZipInfo(name)
    entry.compress_type = ZIP_DEFLATED
    entry.create_system = _UNIX
    entry.external_attr = _OWNER_ONLY
    return entry
