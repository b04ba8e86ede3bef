"""`/people`: further people in the process, each with the whole API below `/people/ID/`."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from concord_environment.api.access import Served, permitted
from concord_environment.api.clock import Advanced, AdvanceRequest, advanced_of
from concord_environment.core.faults import NotFound
from concord_environment.people import PREFIX, add_person, advance_all


class PersonRequest(BaseModel):
    """A new person. The id becomes a part of the paths of the person's calls."""

    person_id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=40)]


class PersonView(BaseModel):
    """A person: the path below which the person's calls are, and the person's simulated time."""

    person_id: str
    path: str
    current_time: datetime


class PeopleList(BaseModel):
    """The people of the process, in the order of their creation."""

    people: list[PersonView]


class DeliveredEmail(BaseModel):
    """An email from one person to another. The ids are those of the sender's email and of the receiver's copy."""

    from_person: str
    to_person: str
    sent_message_id: str
    received_message_id: str


class RoundAdvanced(BaseModel):
    """The outcome of an advance of all people, by person, and the emails that arrived in another person's mailbox."""

    people: dict[str, Advanced]
    delivered: list[DeliveredEmail]


router = APIRouter(prefix="/people", tags=["people"])


@router.post("", status_code=201, dependencies=[Depends(permitted("people:create"))])
async def create_person(request: PersonRequest, environment: Served) -> PersonView:
    """Adds a person with an empty simulation of their own.

    The calls below `path` are the whole API for this person: the admin key imports the person's scenario, starts the
    simulation and creates keys there. A key made there is valid there only. Responds with 409 if the person exists.
    """
    person = add_person(environment, request.person_id)
    return _view(request.person_id, person.simulation.now)


@router.get("", dependencies=[Depends(permitted("people:list"))])
async def list_people(environment: Served) -> PeopleList:
    """Returns the people of the process."""
    return PeopleList(people=[_view(name, one.simulation.now) for name, one in environment.people.items()])


@router.delete("/{person_id}", status_code=204, dependencies=[Depends(permitted("people:delete"))])
async def delete_person(person_id: str, environment: Served) -> None:
    """Deletes a person with everything of theirs. Responds with 404 if the person does not exist."""
    if environment.people.pop(person_id, None) is None:
        raise NotFound(f"there is no person {person_id}")


@router.post("/advance", dependencies=[Depends(permitted("people:advance"))])
async def advance_people(request: AdvanceRequest, environment: Served) -> RoundAdvanced:
    """Advances the clocks of all people, then delivers the emails that the advance sent from one person to another.

    An email reaches everybody whose address is among its To, Cc or Bcc, as a received email without Bcc, at the end of
    the advance. Responds with 409 if a person's simulation is stopped, and with 400 if one is paused: then no time
    moves.
    """
    progress, delivered = advance_all(environment.people, request.seconds)
    return RoundAdvanced(
        people={name: advanced_of(moved) for name, moved in progress.items()},
        delivered=[
            DeliveredEmail(
                from_person=one.sender,
                to_person=one.receiver,
                sent_message_id=one.sent_id,
                received_message_id=one.received_id,
            )
            for one in delivered
        ],
    )


def _view(person_id: str, now: datetime) -> PersonView:
    return PersonView(person_id=person_id, path=f"{PREFIX}{person_id}", current_time=now)
