"""Events: their JSON forms have the fields of an event's record, and a record restores its event."""

from datetime import timedelta

import pytest
from concord_environment_client import responses
from pydantic import BaseModel

from concord_environment.api.responses import EventView
from concord_environment.core.events import Event, Submission, as_record, from_record
from concord_environment.modalities.registry import parse
from concord_environment.persistence.stored import StoredEvent
from concord_environment.scenario import EventDocument
from tests.unit.environment.worlds import START, at, delete, mail, new_simulation


def executed_and_failed() -> list[Event]:
    simulation = new_simulation()
    submissions = [Submission(mail("m1"), at(1), "somebody", 7, {"why": "test"}), Submission(delete("none"), at(2))]
    simulation.schedule(submissions)
    simulation.advance(timedelta(seconds=3) // timedelta(microseconds=1))
    return list(simulation.events.rows())


@pytest.mark.parametrize("form", [EventView, EventDocument, responses.Event])
def test_a_json_form_has_the_fields_of_a_record(form: type[BaseModel]) -> None:
    assert form.model_fields.keys() == as_record(executed_and_failed()[0]).keys()


def test_a_snapshot_has_the_fields_of_a_record_and_the_sequence() -> None:
    assert StoredEvent.model_fields.keys() == {*as_record(executed_and_failed()[0]), "sequence"}


def test_a_record_restores_its_event() -> None:
    events = executed_and_failed()
    assert [str(event.status) for event in events] == ["executed", "failed"]
    for event in events:
        record = as_record(event)
        assert from_record(record, event.sequence, parse(record["modality"], record["data"])) == event
        assert event.created_at == START
