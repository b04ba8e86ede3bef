"""Observations in edits of artifacts: clashing, undone, and the same one twice."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from concord.assessment.results import Observation, ObservationKind
from concord.trace.effects import Effect, EffectKind, Lines, Workspace
from concord_evaluator.observations.acts import Act
from concord_evaluator.observations.observed import observed

CONTAINED: Final = 0.9
"""The part of an agent's added lines that another one's edits have to contain to count as the same work."""

MAX_PAIRS: Final = 1000
"""Touching pairs of edits that are looked at in each artifact."""

_MAX_COMPARED: Final = 200_000
"""Pairs that are compared to find them: one agent may edit the same lines any number of times."""


class _Edit(NamedTuple):
    act: Act
    effect: Effect
    lines: Lines


def clashing_edits(acts: Sequence[Act]) -> Iterator[Observation]:
    """Two agents with copies of their own changed the same lines differently, so that their work cannot be merged.

    Not where one agent's work contains most of the other's, which then needs no merge, and not in shared files, where
    the later edit builds on the earlier one. Adjoining lines count, as in `git merge`.
    """
    by_artifact = defaultdict[str, list[_Edit]](list)
    added = defaultdict[str, Counter[tuple[str, str]]](Counter)
    for act in acts:
        effect = act.effect
        if effect is None or effect.kind is not EffectKind.EDITED or effect.workspace is not Workspace.SEPARATE:
            continue
        added[act.agent].update((effect.artifact, line) for line in effect.excerpt.splitlines() if line[:1] == "+")
        if effect.lines is not None and effect.digest:
            by_artifact[effect.artifact].append(_Edit(act, effect, effect.lines))
    for artifact, edits in by_artifact.items():
        clashes = defaultdict[tuple[str, str], list[tuple[_Edit, _Edit]]](list)
        for one, other in _touching(edits):
            if one.effect.digest != other.effect.digest:
                clashes[_pair(one, other)].append((one, other))
        for (first, second), pairs in sorted(clashes.items()):
            if _contained(added[first], added[second]) <= CONTAINED:
                found = [each.act for pair in pairs for each in pair]
                quotes = [
                    (each.act, f"{artifact}, line {each.lines.start}:\n{each.effect.excerpt}") for each in pairs[0]
                ]
                yield observed(
                    ObservationKind.CLASHING_EDITS, (first, second), found, quotes, about=artifact, count=len(pairs)
                )


def _touching(edits: Sequence[_Edit]) -> Iterator[tuple[_Edit, _Edit]]:
    """The pairs of edits of different agents that touch, in the order of the artifact, at most `MAX_PAIRS`."""
    n_pairs = n_compared = 0
    open_ones: list[_Edit] = []
    for edit in sorted(edits, key=lambda each: (each.lines, each.act.step_id)):
        open_ones = [each for each in open_ones if each.lines.start + each.lines.length >= edit.lines.start]
        for other in open_ones:
            if other.act.agent != edit.act.agent and other.lines.touches(edit.lines):
                yield other, edit
                n_pairs += 1
                if n_pairs == MAX_PAIRS:
                    return
        n_compared += len(open_ones)
        if n_compared > _MAX_COMPARED:
            return
        open_ones.append(edit)


def _pair(one: _Edit, other: _Edit) -> tuple[str, str]:
    first, second = sorted((one.act.agent, other.act.agent))
    return first, second


def _contained(one: Counter[tuple[str, str]], other: Counter[tuple[str, str]]) -> float:
    """The larger part of either's lines that the other has too, from 0 to 1."""
    common = (one & other).total()
    return max(common / max(1, one.total()), common / max(1, other.total()))


def undone_edits(acts: Sequence[Act]) -> Iterator[Observation]:
    """An edit that puts back exactly what an earlier one had replaced: in shared files, or by the same agent."""
    earlier = defaultdict[tuple[str, tuple[str, ...], tuple[str, ...]], dict[str, Act]](dict)
    """By artifact, removed and added lines: the first such edit of each agent."""
    for act in acts:
        effect = act.effect
        if effect is None or effect.kind is not EffectKind.EDITED or not effect.excerpt:
            continue
        removed, added = (_signed(effect.excerpt, sign) for sign in "-+")
        reverted = earlier.get((effect.artifact, added, removed), {})
        shared = effect.workspace is Workspace.SHARED
        before = next(iter(reverted.values()), None) if shared else reverted.get(act.agent)
        if before is not None and before.effect is not None:
            quotes = [(before, before.effect.excerpt), (act, effect.excerpt)]
            agents = (act.agent, before.agent)
            yield observed(ObservationKind.UNDONE_EDIT, agents, (before, act), quotes, about=effect.artifact)
        earlier[effect.artifact, removed, added].setdefault(act.agent, act)


def _signed(excerpt: str, sign: str) -> tuple[str, ...]:
    return tuple(line[1:] for line in excerpt.splitlines() if line[:1] == sign)


def same_deliveries(acts: Sequence[Act]) -> Iterator[Observation]:
    """The same content, not empty, that was delivered twice: by two agents, or by one, as a message sent again."""
    by_digest: dict[str, Act] = {}
    for act in acts:
        effect = act.effect
        if effect is None or effect.kind is not EffectKind.DELIVERED or not effect.digest or effect.is_empty:
            continue
        before = by_digest.setdefault(effect.digest, act)
        if before is not act:
            yield observed(
                ObservationKind.SAME_WORK_TWICE,
                (before.agent, act.agent),
                (before, act),
                [(each, each.effect.artifact) for each in (before, act) if each.effect is not None],
                about=effect.artifact,
            )
