"""Chunks: reported steps, many at a time, with who attests each and the call whose answer carried it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from concord.trace.decoding import grouped
from concord.trace.report import Channel, Report
from concord.trace.step import StepFacts
from concord_evaluator.trace.columns import NONE
from concord_evaluator.trace.records import Attestation

STEPS_AT_ONCE: Final = 4096
"""Steps from which on a chunk is complete: with as many, the work for a chunk hardly counts."""


@dataclass(slots=True)
class Chunk:
    """`sources`: by step, the code of its attestation. `carriers`: by place of a step that came in an answer, the place
    of the call that carried it.
    """

    steps: list[StepFacts] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    carriers: dict[int, int] = field(default_factory=dict)


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
    """The steps of the reports in their order, each before the steps in its answer. Adds to `sources`."""
    chunk = Chunk()
    for group in grouped(reports):
        observed = group.channel is Channel.OBSERVED
        code = sources.code(group.reporter, direct=True, observed=observed, authenticated=group.authenticated)
        if any(step.answer_steps for step in group.steps):
            relayed = sources.code(group.reporter, direct=False, observed=False, authenticated=group.authenticated)
            for step in group.steps:
                _add_family(chunk, step, code, relayed)
        else:
            chunk.steps += group.steps
            chunk.sources += [code] * len(group.steps)
        if len(chunk.steps) >= STEPS_AT_ONCE:
            yield chunk
            chunk = Chunk()
    yield chunk


def _add_family(chunk: Chunk, step: StepFacts, direct: int, relayed: int) -> None:
    first = len(chunk.steps)
    for each, carrier in family(step):
        if carrier != NONE:
            chunk.carriers[len(chunk.steps)] = first + carrier
        chunk.steps.append(each)
        chunk.sources.append(direct if carrier == NONE else relayed)
