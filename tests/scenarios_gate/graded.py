"""Assistants of known skill, made from a scenario's oracle: they leave out actions, or do damage as well."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from concord_environment_client import AsyncUESClient, UESClientError
from concord_purple.assistant.agent import Assistant
from concord_purple.assistant.messages import EarlyCompletion, Reply, TurnStart
from concord_purple.assistant.oracle import Oracle, OracleAssistant, OracleError
from concord_purple.assistant.tools import ACTIONS
from concord_purple.assistant.unfit import read_everything

HALF: Final = "half"
WRECKER: Final = "wrecker"

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
    """The assistants of an oracle, by name: those of `SKILLS`, and `WRECKER`."""
    skilled: dict[str, Callable[[], Assistant]] = {
        name: partial(PartialAssistant, _without_others(oracle, kept)) for name, kept in _KEPT.items()
    }
    return {**skilled, WRECKER: partial(WreckingAssistant, oracle)}


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


class WreckingAssistant:
    """Does everything that the oracle does, then deletes all emails and events that the oracle leaves alone."""

    def __init__(self, oracle: Oracle) -> None:
        self._named = oracle.model_dump_json()
        self._oracle = OracleAssistant(oracle)

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:
        """Performs the turn's actions; in the last turn, deletes. Raises OracleError, UESClientError."""
        reply = await self._oracle.take_turn(ues, turn)
        if isinstance(reply, EarlyCompletion):
            states = await read_everything(ues)
            if emails := self._others(states["email"]["emails"]):
                await ACTIONS["email.delete"](ues, {"message_ids": emails})
            for event in self._others(states["calendar"]["events"]):
                await ACTIONS["calendar.delete"](ues, {"event_id": event})
        return reply

    def _others(self, items: Mapping[str, Any]) -> list[str]:
        return [name for name in items if name not in self._named]
