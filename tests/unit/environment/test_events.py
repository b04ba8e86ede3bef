"""Events: their JSON forms have the fields of an event's record, and a record restores its event."""

from dataclasses import fields
from datetime import timedelta
from typing import get_type_hints

import pytest
from pydantic import BaseModel

from concord_environment.core.events import Event, EventRecord, Submission, as_record, from_record
from concord_environment.modalities.registry import parse
from concord_environment.scenario import EventDocument
from concord_environment_client import responses
from tests.unit.environment.worlds import START, at, mail, new_simulation


def executed_and_failed() -> list[Event]:
    simulation = new_simulation()
    submissions = [Submission(mail("m1"), at(1), "somebody", 7, {"why": "test"}), Submission(mail("m1"), at(2))]
    simulation.schedule(submissions)
    simulation.advance(timedelta(seconds=3) // timedelta(microseconds=1))
    return list(simulation.events.rows())


@pytest.mark.parametrize("form", [EventRecord, EventDocument, responses.Event])
def test_a_json_form_has_the_fields_of_a_record(form: type[BaseModel]) -> None:
    assert form.model_fields.keys() == as_record(executed_and_failed()[0]).keys()


def test_a_field_of_a_scenarios_event_has_the_type_of_a_record_or_may_be_left_out() -> None:
    given, recorded = get_type_hints(EventDocument), get_type_hints(EventRecord)
    others = {name for name in recorded if given[name] != recorded[name]}
    assert others == {"event_id", "created_at"}
    assert all(given[name] == recorded[name] | None for name in others)


def test_a_field_of_a_record_has_the_type_of_the_event() -> None:
    shared = EventRecord.model_fields.keys() & {field.name for field in fields(Event)}
    recorded, defined = get_type_hints(EventRecord), get_type_hints(Event)
    assert {name for name in shared if recorded[name] != defined[name]} == {"metadata"}


def test_a_record_restores_its_event() -> None:
    events = executed_and_failed()
    assert [str(event.status) for event in events] == ["executed", "failed"]
    for event in events:
        record = as_record(event)
        assert from_record(record, event.sequence, parse(record["modality"], record["data"])) == event
        assert event.created_at == START
