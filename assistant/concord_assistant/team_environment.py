"""The people of a team in one environment process: each with a key of their own, all advanced together."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import httpx

from concord.plain_http import NO_CERTIFICATES
from concord_assistant.environment.admin import EnvironmentAdmin
from concord_assistant.messages import AssessmentStartMessage
from concord_assistant.office.grading import OCCURRENCES, DayEvidence
from concord_assistant.office.people import PlannedPeople
from concord_assistant.office.plan import DayPlan
from concord_assistant.office.teams.grading import SeatState, seat_state
from concord_assistant.results import ActionLogEntry
from concord_assistant.scenario.schema import ScenarioConfig
from concord_assistant.turns.action_log import ActionLogBuilder
from concord_assistant.turns.correspondents import DayPeople
from concord_assistant.turns.turn import APPLY
from concord_environment_client import AsyncUESClient, UESClientError
from concord_environment_client.responses import NewKey

CALL_TIMEOUT_S: Final = 60.0
"""How long one call of the environment may take."""


class TeamMail(NamedTuple):
    """A mail from the person of one seat that arrived at that of another."""

    sender: str
    receiver: str
    text: str


@dataclass(slots=True)
class _Person:
    """The person of a seat: the environment, the key of the assistant, and what has happened so far."""

    day: ScenarioConfig
    plan: DayPlan
    admin: EnvironmentAdmin
    correspondents: DayPeople
    key: NewKey
    log: ActionLogBuilder
    now: datetime
    initial: dict[str, Any]
    events: int = 0
    """Executed since the last turn."""

    async def snapshot(self) -> dict[str, Any]:
        """The states of all modalities, with the occurrences of the calendar."""
        states = await self.admin.snapshot()
        return {**states, OCCURRENCES: await self.admin.occurrences(self.day.start_time)}

    async def read(self, until: datetime) -> list[ActionLogEntry]:
        """Logs what was executed until a time, which is now. Returns the assistant's actions."""
        executed, further = await self.admin.events(self.now, until)
        entries, _ = self.log.add_events_from_turn(executed)
        self.log.leave_out(further)
        self.now = until
        self.events += len(executed) + further
        return entries


class TeamEnvironment:
    """The people of a team, by seat, from their set-up to their end states. Calls raise UESClientError."""

    def __init__(self, client: AsyncUESClient, people: Mapping[str, _Person], url: str, *, silent: bool) -> None:
        self._client = client
        self._people = people
        self._ids = {_person_id(place): seat for place, seat in enumerate(people)}
        self._url = url
        self._silent = silent

    @property
    def over(self) -> bool:
        """Whether the day has ended."""
        return any(each.now >= each.day.end_time for each in self._people.values())

    def now(self, seat: str) -> tuple[datetime, int]:
        """A seat's simulated time, and the events that were executed since its last turn."""
        person = self._people[seat]
        return person.now, person.events

    async def start_message(self, seat: str) -> AssessmentStartMessage:
        """What a seat's assistant gets first: the address and the key of its own person alone."""
        place, person = list(self._people).index(seat), self._people[seat]
        return AssessmentStartMessage(
            ues_url=f"{self._url}/people/{_person_id(place)}",
            api_key=person.key.secret,
            current_time=person.now,
            initial_state_summary=await person.admin.summary(),
        )

    async def advance(self, turn: int) -> list[TeamMail]:
        """Ends a round: executes its actions, lets the people of each day react, and moves all time by a step.

        Returns the mails that arrived in another person's mailbox, in their order.
        """
        people = self._people.values()
        for person in people:
            person.log.start_turn(turn)
            person.events = 0
        first = next(iter(people))
        step = min(first.day.default_time_step, first.day.end_time - first.now)
        began = {seat: each.now for seat, each in self._people.items()}
        mails, done = await self._moved(APPLY)
        for seat, person in self._people.items():
            window = person.now, began[seat] + step
            for reply in await person.correspondents.replies(done[seat], window, turn):
                await person.admin.schedule(reply)
        later, _ = await self._moved(step - APPLY)
        for seat, person in self._people.items():
            refused = await person.admin.refusals(person.key.key_id, person.log.refused_until)
            person.log.add_refusals(refused, began[seat])
            person.log.end_turn()
        return [*mails, *later]

    async def _moved(self, duration: timedelta) -> tuple[list[TeamMail], dict[str, list[ActionLogEntry]]]:
        """Moves all time. Returns the mails that arrived and each seat's executed actions."""
        delivered: Sequence[Mapping[str, str]] = ()
        if self._silent:
            ends = {seat: (await each.admin.advance(duration)).current_time for seat, each in self._people.items()}
        else:
            moved = await self._client.people.advance(seconds=duration.total_seconds())
            delivered = moved["delivered"]
            times = {self._ids[name]: each["current_time"] for name, each in moved["people"].items()}
            ends = {seat: datetime.fromisoformat(each) for seat, each in times.items()}
        done = {seat: await person.read(ends[seat]) for seat, person in self._people.items()}
        return [mail async for mail in self._mails(delivered)], done

    async def _mails(self, delivered: Sequence[Mapping[str, str]]) -> AsyncIterator[TeamMail]:
        boxes = dict[str, Mapping[str, Any]]()
        for each in delivered:
            sender, receiver = self._ids[each["from_person"]], self._ids[each["to_person"]]
            if receiver not in boxes:
                boxes[receiver] = (await self._people[receiver].admin.snapshot())["email"]["emails"]
            mail = boxes[receiver].get(each["received_message_id"]) or {}
            texts = [mail.get("subject"), mail.get("body_text") or mail.get("body_html")]
            yield TeamMail(sender, receiver, "\n".join(str(text) for text in texts if text))

    def turns_acted(self) -> Mapping[str, int]:
        """By seat, the last turn in which it did something."""
        logs = {seat: each.log.get_log() for seat, each in self._people.items()}
        return {seat: max(each.turn for each in log if each.success) for seat, log in logs.items() if _acted(log)}

    async def states(self) -> Mapping[str, SeatState]:
        """The end state of each seat."""
        found = dict[str, SeatState]()
        for seat, person in self._people.items():
            evidence = DayEvidence(
                person.log.get_log(),
                person.initial,
                await person.snapshot(),
                person.log.get_other_events(),
                person.log.omitted,
            )
            found[seat] = seat_state(person.plan, evidence)
        return found

    async def revoke(self, seat: str) -> None:
        """Revokes the key of a seat's assistant."""
        person = self._people[seat]
        with suppress(UESClientError):
            await person.admin.revoke(person.key.key_id)


@asynccontextmanager
async def team_environment(
    client: AsyncUESClient,
    own: tuple[str, str],
    advertised_url: str,
    days: Mapping[str, ScenarioConfig],
    *,
    silent: bool = False,
) -> AsyncIterator[TeamEnvironment]:
    """The people of these days, by seat, in the environment of `client`, which then has no others.

    `own`: the environment's URL and its admin key; `advertised_url`: its URL for assistants; `silent`: no mail is
    delivered. Raises ScenarioRefusedError.
    """
    if (await client.simulation.status()).is_running:
        await client.simulation.stop()
    await client.simulation.clear()
    async with AsyncExitStack() as clients:
        people = dict[str, _Person]()
        for place, (seat, day) in enumerate(days.items()):
            await client.people.create(person_id=_person_id(place))
            transport = httpx.AsyncHTTPTransport(verify=NO_CERTIFICATES)
            url = f"{own[0]}/people/{_person_id(place)}"
            person = AsyncUESClient(url, own[1], timeout=CALL_TIMEOUT_S, transport=transport)
            people[seat] = await _set_up(await clients.enter_async_context(person), seat, day)
        yield TeamEnvironment(client, people, advertised_url, silent=silent)


async def _set_up(client: AsyncUESClient, seat: str, day: ScenarioConfig) -> _Person:
    """Loads the day of a seat's person, and gives the task in the chat. Raises ScenarioRefusedError."""
    if day.day is None:
        raise ValueError(f"{day.scenario_id} is no day in the office")
    admin = EnvironmentAdmin(client)
    now = await admin.load(day)
    key = await admin.create_key(f"assistant of {seat}")
    correspondents = DayPeople(client, PlannedPeople(day.day))
    person = _Person(day, day.day, admin, correspondents, key, ActionLogBuilder(key.key_id), now, {})
    person.initial = await person.snapshot()
    await admin.prompt(day.user_prompt)
    return person


def _acted(log: Sequence[ActionLogEntry]) -> bool:
    return any(each.success for each in log)


def _person_id(place: int) -> str:
    return f"person-{place + 1}"
