"""Assistants of known skill, made from a scenario's oracle: they leave out actions."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from concord_environment_client import AsyncUESClient, UESClientError
from concord_purple.assistant.agent import Assistant, Reply, TurnStart
from concord_purple.assistant.scripted import Oracle, OracleAssistant, OracleError

HALF: Final = "half"

_KEPT: Final[Mapping[str, frozenset[int]]] = {
    "quarter": frozenset({3}),
    HALF: frozenset({1, 3}),
    "three_quarters": frozenset({0, 1, 3}),
}
"""By assistant, which of four actions in a row it performs. A more skilful one performs all that a lesser one does.

An oracle of two actions has one that half of them leaves out, and one of three has one that three quarters leave out.
"""

SKILLS: Final = tuple(_KEPT)
"""The assistants that leave out actions, by growing skill."""


def graded(oracle: Oracle) -> dict[str, Callable[[], Assistant]]:
    """The assistants of an oracle, by name: those of `SKILLS`."""
    return {name: partial(PartialAssistant, _without_others(oracle, kept)) for name, kept in _KEPT.items()}


def _without_others(oracle: Oracle, kept: frozenset[int]) -> Oracle:
    actions = [action for number, action in enumerate(oracle.actions) if number % 4 in kept]
    return oracle.model_copy(update={"actions": actions, "last_turn": oracle.end})


class PartialAssistant:
    """Performs the actions that are left of an oracle, and goes on where one is not possible without the others."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._end = OracleAssistant(oracle.model_copy(update={"actions": []}))

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:
        """Performs the turn's actions in their order."""
        for action in self._oracle.actions:
            if action.turn == turn.turn_number:
                try:
                    await action.perform(ues)
                except (OracleError, UESClientError):
                    continue
        return await self._end.take_turn(ues, turn)
