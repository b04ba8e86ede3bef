"""Chunks: reported steps, many at a time, with who attests each and the call whose answer carried it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, groupby
from operator import attrgetter
from typing import Final, NamedTuple

import numpy as np

from concord.trace.decoding import ReadBatch, StoredReports, read
from concord.trace.report import Channel, Report, ReportBatch
from concord.trace.step import StepFacts
from concord_evaluator.trace.bodies import unpacked
from concord_evaluator.trace.columns import NONE, Flags
from concord_evaluator.trace.lean_steps import LeanStep, read_lean, read_some
from concord_evaluator.trace.records import Attestation

STEPS_AT_ONCE: Final = 4096
"""Steps from which on a chunk is complete: with as many, the work for a chunk hardly counts."""


@dataclass(slots=True)
class Chunk:
    """`sources`: by step, the code of its attestation. `carriers`: by place of a step that came in an answer, the place
    of the call that carried it. `sizes`: how many of the steps each batch has; negative for one that is not read lean.
    """

    steps: list[LeanStep] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    carriers: dict[int, int] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)


class Sources:
    """Attestations as codes. `attestations`: by code."""

    def __init__(self) -> None:
        self.attestations: list[tuple[Attestation, ...]] = []
        self._codes: dict[tuple[str, bool, bool, bool], int] = {}

    def code(self, reporter: str, *, direct: bool, observed: bool, authenticated: bool) -> int:
        """The code of an attestation, a new one for a new attestation."""
        attested = reporter, direct, observed, authenticated
        known = self._codes.get(attested)
        if known is None:
            known = self._codes[attested] = len(self.attestations)
            self.attestations.append((Attestation(*attested),))
        return known


def family(step: StepFacts) -> list[tuple[StepFacts, int]]:
    """The step, and the steps in its answer at any depth, each with the place here of the call that carried it."""
    found = [(step, NONE)]
    for place, (outer, _) in enumerate(found):
        found += [(inner, place) for inner in outer.answer_steps]
    return found


def chunks(reports: Iterable[Report], sources: Sources) -> Iterator[Chunk]:
    """The steps of the reports in their order, each before the steps in its answer. Adds to `sources`.

    Raises zlib.error or pydantic's ValidationError for a malformed stored batch.
    """
    chunk = Chunk()
    for batch in _batches(reports):
        observed = batch.channel is Channel.OBSERVED
        code = sources.code(batch.reporter, direct=True, observed=observed, authenticated=batch.authenticated)
        if batch.lean is not None:
            chunk.steps += batch.lean
            chunk.sources += [code] * len(batch.lean)
            chunk.sizes.append(len(batch.lean))
        else:
            first = len(chunk.steps)
            relayed = sources.code(batch.reporter, direct=False, observed=False, authenticated=batch.authenticated)
            for step in batch.steps:
                _add_family(chunk, step, code, relayed)
            chunk.sizes.append(first - len(chunk.steps))
        if len(chunk.steps) >= STEPS_AT_ONCE:
            yield chunk
            chunk = Chunk()
    yield chunk


class _Batch(NamedTuple):
    """Steps that one reporter reported over one channel: `lean`, or else `steps` in full."""

    lean: Sequence[LeanStep] | None
    steps: Iterable[StepFacts]
    reporter: str
    authenticated: bool
    channel: Channel


def _batches(reports: Iterable[Report]) -> Iterator[_Batch]:
    if isinstance(reports, StoredReports):
        for batch in reports.batches:
            lean, steps = _read(batch)
            yield _Batch(lean, steps, batch.reporter, batch.authenticated, batch.channel)
    else:
        for source, group in groupby(reports, key=attrgetter("reporter", "authenticated", "channel")):
            yield _Batch(None, (report.step for report in group), *source)


def _read(batch: ReportBatch) -> tuple[Sequence[LeanStep] | None, Iterable[StepFacts]]:
    if isinstance(batch, ReadBatch):
        return [LeanStep.of(step) for step in batch.steps], ()
    body = unpacked(batch.body)
    lean = read_lean(body)
    return lean, read(body).steps if lean is None else ()


def _add_family(chunk: Chunk, step: StepFacts, direct: int, relayed: int) -> None:
    first = len(chunk.steps)
    for each, carrier in family(step):
        if carrier != NONE:
            chunk.carriers[len(chunk.steps)] = first + carrier
        chunk.steps.append(LeanStep.of(each))
        chunk.sources.append(direct if carrier == NONE else relayed)


def full_steps(reports: Iterable[Report], sizes: Sequence[int], wanted: Flags) -> Iterator[StepFacts]:
    """The wanted steps in full, in the order of `chunks`. `sizes`: of its chunks.

    Decodes only the stored batches that have any of them. Raises as `chunks` does.
    """
    if not isinstance(reports, StoredReports):
        yield from compress((step for report in reports for step, _ in family(report.step)), wanted.tolist())
        return
    first = 0
    for batch, size in zip(reports.batches, sizes, strict=True):
        places = np.flatnonzero(wanted[first : first + abs(size)]).tolist()
        first += abs(size)
        if isinstance(batch, ReadBatch):
            yield from (batch.steps[place] for place in places)
        elif places and size > 0:
            yield from read_some(unpacked(batch.body), places)
        elif places:
            steps = [step for told in read(unpacked(batch.body)).steps for step, _ in family(told)]
            yield from (steps[place] for place in places)
