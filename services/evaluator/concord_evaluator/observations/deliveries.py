"""Observations in what agents took on, checked and delivered."""

from collections.abc import Iterator, Sequence
from typing import Final

from concord.assessment.results import Observation, ObservationKind
from concord.trace.effects import EffectKind
from concord_evaluator.observations.acts import Act
from concord_evaluator.observations.observed import observed

_END: Final = "TERMINATE"
"""The message by which AG2 and AutoGen end a conversation."""

_DONE: Final = frozenset({EffectKind.EDITED, EffectKind.FINISHED, EffectKind.DELIVERED})


def empty_deliveries(acts: Sequence[Act]) -> Iterator[Observation]:
    """An agent whose last delivery changed nothing."""
    last = {act.agent: act for act in acts if act.effect is not None and act.effect.kind is EffectKind.DELIVERED}
    for agent, act in last.items():
        if act.effect is not None and act.effect.is_empty:
            quote = f"{act.effect.artifact}: 0 lines added, 0 removed"
            yield observed(ObservationKind.DELIVERED_NOTHING, [agent], [act], [(act, quote)], about=act.effect.artifact)


def unfinished_claims(acts: Sequence[Act]) -> Iterator[Observation]:
    """An artifact that an agent took on, and that nobody edited, finished or delivered.

    Only in a trace that shows some finished work: otherwise nothing is known of any.
    """
    done = {act.effect.artifact for act in acts if act.effect is not None and act.effect.kind in _DONE}
    claimed: dict[tuple[str, str], Act] = {}
    for act in acts:
        if act.effect is not None and act.effect.kind is EffectKind.CLAIMED and act.effect.artifact not in done:
            claimed.setdefault((act.agent, act.effect.artifact), act)
    for (agent, artifact), act in claimed.items() if done else ():
        stated = "" if act.effect is None else act.effect.excerpt
        quotes = [(act, act.text or stated or f"claimed {artifact}")]
        yield observed(ObservationKind.CLAIMED_UNFINISHED, [agent], [act], quotes, about=artifact)


def failing_deliveries(acts: Sequence[Act]) -> Iterator[Observation]:
    """A delivery after the last check of its agent, or of the artifact, had failed."""
    failed: dict[str, Act] = {}
    """By agent, and by artifact, the failed check that no passed one followed."""
    for act in acts:
        effect = act.effect
        if effect is None:
            continue
        places = (f"agent {act.agent}", f"artifact {effect.artifact}")
        if effect.kind is EffectKind.CHECKED and effect.passed is not None:
            for place in places:
                if effect.passed:
                    failed.pop(place, None)
                else:
                    failed[place] = act
        elif effect.kind is EffectKind.DELIVERED:
            check = next((failed[place] for place in places if place in failed), None)
            if check is not None and check.effect is not None:
                quotes = [(check, check.effect.excerpt or check.result or check.error or "the check failed")]
                yield observed(
                    ObservationKind.DELIVERED_FAILING, [act.agent], (check, act), quotes, about=effect.artifact
                )


def work_after_end(acts: Sequence[Act]) -> Iterator[Observation]:
    """Edits of an artifact by the agent that had delivered it, not delivered again; and what followed the word that
    ends a conversation."""
    delivered: dict[tuple[str, str], Act] = {}
    after: dict[tuple[str, str], list[Act]] = {}
    for act in acts:
        if act.effect is None:
            continue
        place = act.agent, act.effect.artifact
        if act.effect.kind is EffectKind.DELIVERED:
            delivered[place] = act
            after.pop(place, None)
        elif act.effect.kind is EffectKind.EDITED and place in delivered:
            after.setdefault(place, []).append(act)
    for place, edits in after.items():
        quotes = [(act, act.effect.excerpt) for act in edits if act.effect is not None]
        yield observed(
            ObservationKind.WORK_AFTER_END,
            [place[0]],
            [delivered[place], *edits],
            quotes,
            about=place[1],
            count=len(edits),
        )
    said = [act for act in acts if act.speaks]
    ended = next((index for index, act in enumerate(said) if act.text.strip() == _END), len(said))
    if late := [act for act in said[ended + 1 :] if act.text.strip() != _END and act.agent]:
        yield observed(
            ObservationKind.WORK_AFTER_END,
            [act.agent for act in late],
            [said[ended], *late],
            [(late[0], late[0].text)],
            count=len(late),
        )
