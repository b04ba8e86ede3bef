"""Several people in one process: the routing of their calls, and the mail between them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from concord_environment.core.events import Event, EventStatus, Submission
from concord_environment.core.faults import Conflict
from concord_environment.core.simulation import Progress
from concord_environment.environment import Environment
from concord_environment.modalities.email.requests import ReceiveEmail, SendEmail
from concord_environment.modalities.email.state import EmailState
from concord_environment.time_advance import advance

PREFIX: Final = "/people/"
MAX_PEOPLE: Final = 100


@dataclass(frozen=True, slots=True)
class Delivery:
    """An email of one person that arrived in the mailbox of another, with its id in both mailboxes."""

    sender: str
    receiver: str
    sent_id: str
    received_id: str


def add_person(root: Environment, person_id: str) -> Environment:
    """Adds a person, whose ids differ from those of all others and whose admin key is that of the process.

    Raises Conflict for a person who exists, or for too many.
    """
    if person_id in root.people:
        raise Conflict(f"there is a person {person_id} already")
    if len(root.people) >= MAX_PEOPLE:
        raise Conflict(f"there are {MAX_PEOPLE} people already")
    seed = int.from_bytes(sha256(f"person {root.seed} {person_id}".encode()).digest()[:4])
    person = Environment(seed)
    person.keys.share_admin(root.keys)
    root.people[person_id] = person
    return person


def advance_all(people: Mapping[str, Environment], seconds: float) -> tuple[dict[str, Progress], list[Delivery]]:
    """Advances every person, then delivers the emails that the advance has sent from one person to another.

    A copy has the Message-ID of the original and arrives at the receiver's new time. Raises as `advance` does, before
    anybody's time moves if one person's time cannot.
    """
    for environment in people.values():
        environment.lifecycle.require_moving()
    progress = {name: advance(one, seconds) for name, one in people.items()}
    sent = [(name, event) for name, moved in progress.items() for event in moved.events if _is_sent(event)]
    sent.sort(key=lambda each: each[1].scheduled_time)
    return progress, [delivery for name, event in sent for delivery in _deliver(people, name, event)]


def _is_sent(event: Event) -> bool:
    return event.status is EventStatus.EXECUTED and isinstance(event.action, SendEmail)


def _deliver(people: Mapping[str, Environment], sender: str, event: Event) -> Iterator[Delivery]:
    action, sent_id = event.action, people[sender].simulation.first_row_id(event)
    recipients = _recipients(action) if isinstance(action, SendEmail) else frozenset()
    for receiver, environment in people.items():
        simulation = environment.simulation
        mailbox = simulation.world[EmailState]
        if receiver == sender or mailbox.address.casefold() not in recipients:
            continue
        copy = action.model_dump(exclude={"operation", "bcc_addresses", "thread_id"})
        given = {"message_id": None if sent_id in mailbox.emails else sent_id, "sent_at": event.executed_at}
        received = ReceiveEmail.model_validate({**copy, **given})
        arrived = simulation.act(Submission(received, simulation.now, metadata={"sent_by_person": sender}))
        yield Delivery(sender, receiver, sent_id, received.message_id or simulation.first_row_id(arrived))


def _recipients(action: SendEmail) -> frozenset[str]:
    addresses: Iterable[str] = (*action.to_addresses, *action.cc_addresses, *action.bcc_addresses)
    return frozenset(address.casefold() for address in addresses)


class PeopleRouting:
    """ASGI middleware that chooses the environment of a call: `/people/ID/email/send` is ID's `/email/send`."""

    def __init__(self, app: ASGIApp, root: Environment) -> None:
        self._app = app
        self._root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a call to the person's environment, or to the root's. Responds with 404 for an unknown person."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        person_id, slash, rest = path.removeprefix(PREFIX).partition("/") if path.startswith(PREFIX) else ("", "", "")
        if not slash:
            await self._app({**scope, "environment": self._root}, receive, send)
        elif person_id in self._root.people and rest.partition("/")[0] != "people":
            environment = self._root.people[person_id]
            await self._app({**scope, "path": f"/{rest}", "environment": environment}, receive, send)
        else:
            await JSONResponse({"detail": f"there is no {path[:200]}"}, 404)(scope, receive, send)
