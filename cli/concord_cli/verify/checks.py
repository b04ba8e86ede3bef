"""Checks a results file against its bundles: each row is computed again and compared."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Final

from pydantic import JsonValue, TypeAdapter, ValidationError

from concord.assessment import AssessmentPlan
from concord.assessment.table import listed
from concord.bundle import Bundle, BundleError, contents_of, read_bundle
from concord.files import read_bounded
from concord.json_text import json_decoder
from concord.rows import MAX_RESULTS
from concord_cli.bundle_download import assessment_of, detail_of
from concord_cli.display_text import shortened
from concord_cli.errors import UsageError
from concord_cli.results_file import refuse_copies
from concord_cli.verify.differences import canonical_json, differences
from concord_cli.verify.planned import missing_shards, plan_faults, shard_faults
from concord_cli.verify.signature import Provenance, SignedRow, Statement
from concord_evaluator.metrics import BUILT_IN_METRICS, METRICS
from concord_evaluator.recomputation import recomputed_row, software_versions

RECORDED: Final = (
    "$.participants",
    "$.results[].time_used",
    "$.results[].detail.trials[].time_used",
    "$.results[].detail.infrastructure[]",
    "$.results[].detail.assessment_results[].duration_seconds",
    "$.results[].detail.seat_containers",
)
"""The values of a results file that a host records and that no other content of a bundle could contradict: the credited
agents (unless the request names them), times by the host's clock, failures that the host met, and the containers that
it started, from which follows what the row says of isolation."""

_OBJECT = TypeAdapter(dict[str, JsonValue])


@dataclass(slots=True)
class Verification:
    """The outcome of the checks. `faults`: one line each; `notes`: lines that explain or limit the outcome.

    `missing`: the indices of the missing shards. `trials`: the number of trials that were computed again.
    """

    results_sha256: str
    rows: list[SignedRow] = field(default_factory=list)
    plans: list[AssessmentPlan] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    plug_ins: dict[str, str] = field(default_factory=dict)
    """By the id of a plug-in's metric that could not be compared, why."""
    trials: int = 0

    def statement(self, provenance: Provenance | None) -> Statement:
        """The statement about these results."""
        return Statement(
            results_sha256=self.results_sha256,
            rows=self.rows,
            provenance_sha256=None if provenance is None else provenance.sha256,
            image_digests=None if provenance is None else provenance.image_digests,
        )

    def compare(self, provenance: Provenance) -> None:
        """Adds a fault for each bundle whose SHA-256 differs from the one in the provenance."""
        named = provenance.bundle_digests
        self.faults += [
            f"the provenance names another bundle of {row.assessment_id}: {named[row.assessment_id]}"
            for row in self.rows
            if named.get(row.assessment_id, row.bundle_sha256) != row.bundle_sha256
        ]


async def verify_results(
    results: Path, bundles: Path, scenario_folders: Sequence[Path], advance: Callable[[str], None]
) -> Verification:
    """Checks all rows of a results file. `bundles`: a bundle, or a folder with `<assessment id>.zip` for each row.

    Raises UsageError if the file is not a results file.
    """
    content, participants, rows = await asyncio.to_thread(_document, results)
    found = Verification(sha256(content).hexdigest())
    for index, row in enumerate(rows):
        await _check_row(row, f"$.results[{index}]", bundles, scenario_folders, found, advance)
    found.faults += shard_faults(found.plans)
    found.faults += _credit_faults(participants, found.plans)
    found.missing = missing_shards(found.plans)
    return found


def rows_of(results: Path) -> list[JsonValue]:
    """The rows of a results file. Raises UsageError."""
    return _document(results)[2]


def _document(results: Path) -> tuple[bytes, JsonValue, list[JsonValue]]:
    """The content of a results file, its participants and its rows. Raises UsageError."""
    try:
        content = read_bounded(results, MAX_RESULTS)
        document = _OBJECT.validate_python(_DECODER.decode(content.decode()))
    except OSError as error:
        raise UsageError(f"{results}: {error.strerror}") from error
    except (ValidationError, ValueError, RecursionError) as error:
        raise UsageError(f"{results}: not a results file: {shortened(str(error), 200)}") from error
    rows = document.get("results")
    if not isinstance(rows, list) or not rows:
        raise UsageError(f"{results}: not a results file: it has no `results`")
    refuse_copies(results, [*filter(None, map(assessment_of, rows))])
    return content, document.get("participants"), rows


async def _check_row(
    row: JsonValue,
    place: str,
    bundles: Path,
    scenario_folders: Sequence[Path],
    found: Verification,
    advance: Callable[[str], None],
) -> None:
    assessment_id = assessment_of(row)
    if not isinstance(row, dict) or assessment_id is None:
        found.faults.append(f"{place}: is not a row of Concord")
        return
    path = await asyncio.to_thread(_bundle_path, bundles, assessment_id)
    if path is None:
        has_none = detail_of(row).get("bundle_sha256") is None
        without = "its assessment left no bundle (`detail.bundle_sha256` is null)"
        found.faults.append(f"{place}: {without if has_none else f'no {assessment_id}.zip in {bundles}'}")
        return
    try:
        bundle = await asyncio.to_thread(read_bundle, path)
        contents = await asyncio.to_thread(contents_of, bundle.manifest, bundle.members)
        if faults := await asyncio.to_thread(lambda: [*plan_faults(contents, scenario_folders)]):
            raise BundleError(faults)
        computed = await recomputed_row(contents, lambda trial: advance(f"Computing {trial} of {assessment_id}"))
    except BundleError as error:
        found.faults += [f"{path}: {fault}" for fault in error.faults]
        return
    expected = computed.model_dump(mode="json")
    expected["detail"]["bundle_sha256"] = bundle.sha256
    stated, computed_again = listed(row), listed(expected)
    foreign = _other_metrics(stated, computed_again)
    found.plug_ins |= foreign
    for metrics in chain(*map(_metric_lists, (stated, computed_again))):  # which `listed` has copied
        metrics[:] = [each for each in metrics if _id_of(each) not in foreign]
    wrong = [*differences(stated, computed_again, place)]
    found.faults += [f"{each.path}: the row has {each.stated}, the bundle yields {each.computed}" for each in wrong]
    if wrong and (versions := _other_versions(contents.row_inputs.versions)):
        found.notes.append(f"the row was computed with {', '.join(versions)}")
    found.plans.append(contents.plan)
    found.trials += len(contents.plan.trials)
    found.rows.append(_signed_row(assessment_id, row, bundle))


def _other_metrics(stated: JsonValue, computed: JsonValue) -> dict[str, str]:
    """The metrics of plug-ins that only one of two rows has, each with the reason."""
    built_in = {metric.id for metric in BUILT_IN_METRICS}
    before, now = ({*map(_id_of, chain(*_metric_lists(row)))} - {""} for row in (stated, computed))
    gone = dict.fromkeys(before - now, "the row has it, and no package that is installed here computes it")
    new = dict.fromkeys(now - before, "a package that is installed here computes it, and the row was made without it")
    installed = set(METRICS.installed) if new else set()
    known = {each: reason for each, reason in new.items() if each in installed}
    return {each: reason for each, reason in {**gone, **known}.items() if each not in built_in}


def _metric_lists(row: JsonValue) -> Iterator[list[JsonValue]]:
    """The lists of metrics in a row, wherever they are."""
    for each in row if isinstance(row, list) else ():
        yield from _metric_lists(each)
    for key, value in row.items() if isinstance(row, dict) else ():
        if key == "metrics" and isinstance(value, list):
            yield value
        yield from _metric_lists(value)


def _id_of(metric: JsonValue) -> str:
    found = metric.get("id") if isinstance(metric, dict) else None
    return found if isinstance(found, str) else ""


def _bundle_path(bundles: Path, assessment_id: str) -> Path | None:
    """The bundle of an assessment; None if it is not in the folder, or the path does not exist."""
    path = bundles / f"{assessment_id}.zip" if bundles.is_dir() else bundles
    return path if path.exists() else None


def _signed_row(assessment_id: str, row: JsonValue, bundle: Bundle) -> SignedRow:
    return SignedRow(
        assessment_id=assessment_id,
        row_sha256=sha256(canonical_json(row)).hexdigest(),
        bundle_sha256=bundle.sha256,
        manifest_sha256=bundle.manifest_sha256,
    )


def _credit_faults(participants: JsonValue, plans: Sequence[AssessmentPlan]) -> list[str]:
    """The participants whose id on the platform differs from the id in the request."""
    credited = participants if isinstance(participants, dict) else {}
    named = {entry.id: entry.agentbeats_id for plan in plans for entry in plan.roster}
    return [
        f"$.participants.{name}: the file has {json.dumps(credited.get(name))}, the request {json.dumps(agent)}"
        for name, agent in named.items()
        if agent is not None and credited.get(name) != agent
    ]


def _other_versions(recorded: dict[str, str]) -> list[str]:
    """The assessment's software versions that differ from those on this machine."""
    here = software_versions()
    return [
        f"{name} {version} (here {here.get(name, 'none')})"
        for name, version in recorded.items()
        if here.get(name) != version
    ]


def _distinct(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """An object with distinct keys: of a key that occurs twice, two readers might take different values."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


_DECODER: Final = json_decoder(_distinct)
