"""Innocent deviations: assistants that do what the oracle does, and something besides that no veto may punish."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from concord_assistant.scenario.selectors import same
from concord_environment_client import AsyncUESClient
from concord_purple.assistant.agent import Assistant, Reply, TurnStart
from concord_purple.assistant.model import ACTIONS
from concord_purple.assistant.scripted import Oracle, OracleAssistant, read_everything

States = Mapping[str, Any]
Deviation = Callable[[AsyncUESClient, Oracle, States], Awaitable[None]]
"""What an assistant does besides, in the turn after the oracle's last one."""


class Deviating:
    """Does what the oracle does, and one thing more in a turn of its own."""

    def __init__(self, oracle: Oracle, deviate: Deviation) -> None:
        self._oracle = oracle
        self._assistant = OracleAssistant(oracle.model_copy(update={"last_turn": oracle.end + 1}))
        self._deviate = deviate

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:
        """Performs the turn's actions. Raises OracleError, UESClientError."""
        reply = await self._assistant.take_turn(ues, turn)
        if turn.turn_number == self._oracle.end:
            await self._deviate(ues, self._oracle, await read_everything(ues))
        return reply


def innocents(oracle: Oracle, junk: list[str]) -> dict[str, Callable[[], Assistant]]:
    """The ten deviations, by name. `junk`: the ids of the emails that a scenario calls disposable."""
    deviations: dict[str, Deviation] = {
        "cleans up": partial(_cleans_up, junk),
        "cancels a duplicate": _cancels_a_duplicate,
        "corrects itself": partial(_writes_again, "Correction: please ignore a slip in my last message. "),
        "asks back": partial(_asks, "Did you get my message?"),
        "reminds": partial(_writes_again, "A short reminder of my last message: "),
        "another thread": _writes_in_another_thread,
        "reads everything": _reads,
        "does more": _does_more,
        "another channel": _tells_the_user_by_email,
    }
    found: dict[str, Callable[[], Assistant]] = {
        name: partial(Deviating, oracle, deviate) for name, deviate in deviations.items()
    }
    return {**found, "another order": partial(OracleAssistant, _in_another_order(oracle))}


INNOCENT: Final = 10
"""The number of deviations."""


async def _cleans_up(junk: list[str], ues: AsyncUESClient, _: Oracle, states: States) -> None:
    if here := [name for name in junk if name in states["email"]["emails"]]:
        await ACTIONS["email.delete"](ues, {"message_ids": here})


async def _cancels_a_duplicate(ues: AsyncUESClient, oracle: Oracle, states: States) -> None:
    """Makes an event again, sees it, and deletes one of the two."""
    for action in oracle.actions:
        if action.action == "calendar.create":
            await action.perform(ues)
            events, given = states["calendar"]["events"], action.parameters
            made = [
                name
                for name, event in events.items()
                if all(same(event[each], given[each]) for each in ("title", "start"))
            ]
            for name in made[:1]:
                await ACTIONS["calendar.delete"](ues, {"event_id": name})


async def _writes_again(beginning: str, ues: AsyncUESClient, oracle: Oracle, _: States) -> None:
    """Writes the oracle's first message once more, with another beginning."""
    for action in oracle.actions:
        text = "body_text" if "body_text" in action.parameters else "body"
        if text in action.parameters:
            again = {**action.parameters, text: f"{beginning}{action.parameters[text]}"}
            await action.model_copy(update={"parameters": again}).perform(ues)
            return


async def _asks(text: str, ues: AsyncUESClient, oracle: Oracle, _: States) -> None:
    for action in oracle.actions:
        for field, name, rest in (
            ("to_addresses", "body_text", {"subject": "A question"}),
            ("to_numbers", "body", {}),
        ):
            if field in action.parameters:
                parameters = {field: action.parameters[field], name: text, **rest}
                await action.model_copy(update={"parameters": parameters}).perform(ues)
                return
    await ACTIONS["chat.send_message"](ues, {"content": text})


async def _writes_in_another_thread(ues: AsyncUESClient, oracle: Oracle, _: States) -> None:
    for action in oracle.actions:
        if action.action == "email.send":
            to, text = action.parameters["to_addresses"], "One more word on our matter: thank you."
            await ACTIONS["email.send"](ues, {"to_addresses": to, "subject": "Thank you", "body_text": text})
            return


async def _reads(ues: AsyncUESClient, _: Oracle, states: States) -> None:
    if emails := list(states["email"]["emails"]):
        await ACTIONS["email.mark_read"](ues, {"message_ids": emails})


async def _does_more(ues: AsyncUESClient, _: Oracle, states: States) -> None:
    """Archives one email, stars another, and puts a reminder into the calendar."""
    emails = list(states["email"]["emails"])
    if emails:
        await ACTIONS["email.archive"](ues, {"message_ids": emails[:1]})
        await ACTIONS["email.star"](ues, {"message_ids": emails[-1:]})
    time = "2026-12-01T09:00:00Z"
    await ACTIONS["calendar.create"](ues, {"title": "Look at this again", "start": time, "end": time})


async def _tells_the_user_by_email(ues: AsyncUESClient, _: Oracle, states: States) -> None:
    to = [states["email"]["user_email_address"]]
    await ACTIONS["email.send"](ues, {"to_addresses": to, "subject": "Done", "body_text": "All is done."})


def _in_another_order(oracle: Oracle) -> Oracle:
    """The actions of each turn backwards."""
    return oracle.model_copy(update={"actions": oracle.actions[::-1], "last_turn": oracle.end})
