"""Every method of UES's Python client gets what it needs from the environment, which ignores no field that it sends."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from tests.conformance.environment.recorded import RECORDED

EXPECTED: Final[dict[str, Any]] = json.loads((RECORDED / "client-0.3-expectations.json").read_text(encoding="utf-8"))
GONE: Final = ("simulation.hold", "simulation.list_holds", "simulation.release", "webhooks.")
"""The methods that the environment does not serve: no assessment holds time or needs notices over HTTP."""

METHODS: Final[dict[str, Any]] = {
    name: method for name, method in EXPECTED["methods"].items() if not name.startswith(GONE)
}
SAMPLE: Final[dict[str, Any]] = json.loads((RECORDED / "scenario-sample.json").read_text(encoding="utf-8"))

NOW: Final = "2026-03-16T09:00:00+00:00"
LATER: Final = "2026-03-16T12:00:00+00:00"
BOB: Final = "bob@example.com"
PHONE: Final = "+15550000000"
OTHER_PHONE: Final = "+15550100001"

IGNORED: Final = {"agent_id"}
"""The fields that the environment ignores on purpose: the caller's key identifies the agent."""

FIELDS: Final[dict[str, Any]] = {
    "accuracy": 5.0,
    "agent_id": "agent-a",
    "address": "1 Example Street",
    "altitude": 30.0,
    "author": "Ana",
    "bearing": 90.0,
    "body": "Hello",
    "body_contains": "hel",
    "body_html": "<p>Hello</p>",
    "body_text": "Hello",
    "calendar_id": "work",
    "calendar_ids": ["work"],
    "color": "#112233",
    "comment": "Perhaps",
    "conference_link": "https://meet.example.com/1",
    "content": "Hello",
    "conversation_id": "default",
    "attendee_email": "user@example.com",
    "cc_addresses": [BOB],
    "bcc_addresses": [BOB],
    "description": "A text",
    "emoji": "x",
    "end": "2026-03-17T11:00:00+00:00",
    "end_time": LATER,
    "event_id": "meeting",
    "events": ["chat."],
    "exclude": ["hourly"],
    "folder": "inbox",
    "format": "json",
    "from_address": BOB,
    "from_number": OTHER_PHONE,
    "from_time": 1_700_000_000,
    "in_reply_to": "mail",
    "labels": ["work"],
    "lat": 52.5,
    "latitude": 52.5,
    "limit": 5,
    "location": "Room 1",
    "lon": 13.4,
    "longitude": 13.4,
    "message_id": "text",
    "message_ids": ["mail"],
    "metadata": {"k": "v"},
    "modality": "chat",
    "name": "Work",
    "named_location": "Home",
    "offset": 0,
    "organizer": "user@example.com",
    "permissions": ["email:state"],
    "phone_number": PHONE,
    "priority": "high",
    "reason": "thinking",
    "recurrence": {"frequency": "WEEKLY", "interval": 1, "by_day": ["TU"], "count": 4},
    "recurrence_exceptions": ["2026-03-24"],
    "references": ["mail"],
    "replied_to_message_id": "text",
    "reply_to_address": BOB,
    "reminders": [{"minutes_before": 10, "type": "notification"}],
    "attachments": [{"filename": "a.txt", "size": 3, "mime_type": "text/plain"}],
    "attendees": [{"email": "user@example.com", "display_name": "Ursula", "response": "needs-action"}],
    "report": {"lat": 52.5, "lon": 13.4, "timezone": "UTC", "timezone_offset": 0, "current": {"dt": 1, "temp": 280.0}},
    "reset_time_to": NOW,
    "scale": 2.0,
    "search": "hel",
    "seconds": 1.5,
    "secret": "s3cret",
    "sent_after": NOW,
    "sent_before": LATER,
    "sent_at": NOW,
    "received_after": NOW,
    "received_before": LATER,
    "since": NOW,
    "until": LATER,
    "speed": 1.0,
    "start": "2026-03-17T10:00:00+00:00",
    "start_time": NOW,
    "scheduled_time": LATER,
    "status": "confirmed",
    "subject": "Hello",
    "subject_contains": "hel",
    "target_time": LATER,
    "thread_id": "mail",
    "time_scale": 1.0,
    "timeout_seconds": 30.0,
    "timezone": "UTC",
    "title": "Review",
    "to_address": "user",
    "to_addresses": ["user@example.com"],
    "to_number": PHONE,
    "to_numbers": [PHONE],
    "to_time": 1_800_000_000,
    "url": "http://127.0.0.1:9/hook",
    "data": {"role": "user", "content": "Hello"},
    "count": 1,
}
"""A value for each field that the client sends, unless `OVERRIDES` has another one for the method."""

CHAT_EVENT: Final = {"scheduled_time": LATER, "modality": "chat", "data": FIELDS["data"], "priority": 50}
OVERRIDES: Final[dict[str, dict[str, Any]]] = {
    "calendar.create_calendar": {"calendar_id": "new"},
    "calendar.set_default_calendar": {"calendar_id": "work"},
    "calendar.delete": {"recurrence_scope": "future", "recurrence_id": "2026-03-24", "event_id": "series"},
    "calendar.update": {"recurrence_scope": "this", "recurrence_id": "2026-03-24", "event_id": "series"},
    "calendar.query": {"sort_by": "start"},
    "chat.delete": {"message_id": "said"},
    "email.query": {"sort_by": "date"},
    "email.send": {"from_address": "user@example.com", "to_addresses": [BOB]},
    "events.create": {"priority": 50},
    "events.create_batch": {"events": [CHAT_EVENT, {**CHAT_EVENT, "modality": "telepathy"}]},
    "events.list_events": {"status": "pending"},
    "location.query": {"sort_by": "timestamp"},
    "sms.query": {"thread_id": None, "sort_by": "timestamp"},
    "sms.receive": {"from_number": OTHER_PHONE},
    "sms.send": {"from_number": PHONE, "to_numbers": [OTHER_PHONE]},
    **{f"sms.{call}": {"message_ids": ["text"]} for call in ("read", "unread", "delete")},
}
STOPPED: Final = {"simulation.start", "scenario.import_full", "scenario.import_environment", "scenario.import_events"}
"""The methods that need a stopped simulation."""

CONTENTS: Final[list[tuple[str, dict[str, Any]]]] = [
    ("/calendar/calendars/create", {"calendar_id": "work", "name": "Work"}),
    ("/email/receive", {"from_address": BOB, "to_addresses": ["user@example.com"], "message_id": "mail",
                        "subject": "Hello", "body_text": "Hi", "labels": ["work"],
                        "attachments": FIELDS["attachments"]}),
    ("/sms/receive", {"from_number": OTHER_PHONE, "to_numbers": [PHONE], "body": "Hello", "message_id": "text"}),
    ("/chat/send", {"role": "user", "content": "Hello", "message_id": "said"}),
    ("/calendar/create", {"event_id": "meeting", "title": "Review", "start": NOW, "end": LATER, "calendar_id": "work",
                          "attendees": FIELDS["attendees"], "attachments": FIELDS["attachments"]}),
    ("/calendar/create", {"event_id": "series", "title": "Weekly", "start": "2026-03-17T10:00:00Z",
                          "end": "2026-03-17T11:00:00Z", "recurrence": FIELDS["recurrence"]}),
    ("/location/update", {"latitude": 52.5, "longitude": 13.4, "named_location": "Home"}),
    ("/weather/update", {"latitude": 52.5, "longitude": 13.4, "report": FIELDS["report"]}),
    ("/events", {"scheduled_time": LATER, "modality": "chat", "data": FIELDS["data"]}),
]  # fmt: skip
"""What the simulation contains before a method is called."""


@pytest.fixture(scope="module")
def scenario(ues: TestClient) -> dict[str, Any]:
    """A scenario with an item of each kind."""
    started: list[tuple[str, dict[str, Any]]] = [
        ("/simulation/clear", {"reset_time_to": NOW}),
        ("/simulation/start", {}),
    ]
    for path, body in (*started, *CONTENTS):
        answer = ues.post(path, json=body)
        assert answer.is_success, (path, answer.text)
    document: dict[str, Any] = ues.get("/scenario/export/full").json()["scenario"]
    return document


@pytest.fixture(scope="module")
def openapi(ues: TestClient) -> dict[str, Any]:
    document: dict[str, Any] = ues.get("/openapi.json").json()
    return document


def load(ues: TestClient, scenario: dict[str, Any], method: str) -> dict[str, str]:
    """Prepares the server for a method. Returns the ids in its path."""
    ues.post("/simulation/stop")
    assert ues.post("/scenario/import/full", json={"scenario": scenario}).is_success
    ids = {"event_id": scenario["events"]["events"][-1]["event_id"]}
    if method not in STOPPED:
        ues.post("/simulation/start", json={})
    if method == "simulation.redo":
        ues.post("/chat/send", json={"role": "user", "content": "x"})
        ues.post("/simulation/undo")
    return ids


def value(method: str, field: str, kind: Any, scenario: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """The value that a method sends in a field."""
    if field in OVERRIDES.get(method, {}):
        return OVERRIDES[method][field]
    if method.startswith("scenario.import_") and field in ("data", "scenario"):
        return {"full": scenario, "environment": scenario["environment"], "events": scenario["events"]}[method[16:]]
    if isinstance(kind, dict) and "enum" in kind and FIELDS.get(field) not in kind["enum"]:
        return kind["enum"][0]
    if kind == "boolean":
        return True
    return "true" if kind == "the word true" else FIELDS[field]


def requests(method: str, scenario: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The query and the body of a method without its optional arguments, and with all of them."""
    request = METHODS[method]["request"]
    always = {name: value(method, name, kind, scenario) for name, kind in request["body_always"].items()}
    given = {name: value(method, name, kind, scenario) for name, kind in request["body_when_given"].items()}
    query = {name: value(method, name, kind, scenario) for name, kind in request.get("query_when_given", {}).items()}
    yield {}, always
    if given or query:
        yield query, always | {name: item for name, item in given.items() if item is not None}


def model(name: str) -> Callable[[Any], list[str]]:
    """A check of an answer: the required fields that are missing, and the fields of another type."""
    fields = EXPECTED["models"][name]

    def faults(answer: Any) -> list[str]:  # noqa: ANN401 - JSON
        if not isinstance(answer, dict):
            return [f"{name}: no object"]
        missing = [f"{name}.{field}: missing" for field in fields["required"] if field not in answer]
        known = {**fields["required"], **fields["optional"]}
        wrong = [
            f"{name}.{field}: {fault}"
            for field, kind in known.items()
            if field in answer and not (kind["nullable"] and answer[field] is None)
            for fault in unfit(kind["type"], answer[field])
        ]
        return missing + wrong

    return faults


def unfit(kind: Any, answer: Any) -> list[str]:  # noqa: ANN401 - JSON
    """Why the client cannot read a value as a type. Empty if it can."""
    if isinstance(kind, str):
        return [] if PLAIN[kind](answer) else [f"{answer!r} is no {kind}"]
    if "model" in kind:
        return model(kind["model"])(answer)
    if "enum" in kind:
        return [] if answer in kind["enum"] else [f"{answer!r} is none of {kind['enum']}"]
    if "array" in kind:
        items = answer if isinstance(answer, list) else [None]
        return [fault for item in items for fault in unfit(kind["array"], item)]
    if "map" in kind:
        items = list(answer.values()) if isinstance(answer, dict) else [None]
        return [fault for item in items for fault in unfit(kind["map"], item)]
    readings = [unfit(one, answer) for one in kind["any_of"]]
    return min(readings, key=len)


def is_time(text: object) -> bool:
    try:
        datetime.fromisoformat(str(text))
    except ValueError:
        return False
    return isinstance(text, str)


PLAIN: Final[dict[str, Callable[[Any], bool]]] = {
    "any": lambda _: True,
    "string": lambda answer: isinstance(answer, str),
    "plain text": lambda answer: isinstance(answer, str),
    "boolean": lambda answer: isinstance(answer, bool),
    "integer": lambda answer: isinstance(answer, int) and not isinstance(answer, bool),
    "number": lambda answer: isinstance(answer, int | float) and not isinstance(answer, bool),
    "object": lambda answer: isinstance(answer, dict),
    "date-time string": is_time,
}


def test_the_expectations_have_all_methods_of_the_client_but_holds_and_webhooks() -> None:
    assert (len(EXPECTED["methods"]), len(METHODS)) == (86, 74)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_of_the_client_gets_what_it_needs(ues: TestClient, scenario: dict[str, Any], method: str) -> None:
    request, expected = METHODS[method]["request"], METHODS[method]["response"]
    for query, body in requests(method, scenario):
        path = request["path"].format(**load(ues, scenario, method))
        content: dict[str, Any] = {"json": body} if body or "body" not in request else {}
        answer = ues.request(request["method"], path, params=query, **content)
        assert answer.is_success, (query, body, answer.text)
        if expected == "not read":
            continue
        given = answer.json()
        checked = METHODS[method].get("reads", [])
        assert [field for field in checked if field not in given] == []
        kind = {"model": "BatchValidationResponse"} if body.get("validate_only") else expected
        assert unfit(kind, given) == []


@pytest.mark.parametrize("method", METHODS)
def test_no_field_that_a_method_sends_is_ignored_but_the_agents_id(openapi: dict[str, Any], method: str) -> None:
    request = METHODS[method]["request"]
    fields = {*request["body_always"], *request["body_when_given"]}
    operation = openapi["paths"][request["path"]][request["method"].lower()]
    parameters = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"}
    assert set(request.get("query_when_given", ())) <= parameters
    assert fields - IGNORED <= body_fields(openapi, operation)


def body_fields(openapi: dict[str, Any], operation: dict[str, Any]) -> set[str]:
    """The fields of the request body of a route, as its documentation has them."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    shapes = [body, *body.get("anyOf", ())]
    names = [shape["$ref"].rsplit("/", 1)[1] for shape in shapes if "$ref" in shape]
    return {field for name in names for field in openapi["components"]["schemas"][name]["properties"]}


def test_a_dumped_scenario_loads_unedited_and_runs(ues: TestClient) -> None:
    ues.post("/simulation/stop")
    loaded = ues.post("/scenario/import/full", json=SAMPLE).json()
    assert (loaded["success"], loaded["events_loaded"], loaded["warnings"]) == (True, 7, [])
    ues.post("/simulation/start", json={"auto_advance": False})
    day = ues.post("/simulator/time/advance", json={"seconds": 12 * 3600}).json()
    assert (day["events_executed"], day["events_failed"]) == (7, 0), day
    emails = ues.get("/email/state").json()
    assert len(emails["folders"]["inbox"]) == 4
    assert emails["threads"]["thread_boat"]["message_ids"] == ["mail_001", "mail_002"]
    assert [one["body"] for one in ues.post("/sms/query", json={}).json()["messages"]] == [
        "Train is late, I will be there at ten.",
        "Did you get the key?",
    ]
    assert ues.get("/calendar/state").json()["events"]["visit_001"]["organizer"] == "rosa.lind@example.com"


@pytest.mark.parametrize(
    ("operation", "folder"),
    [("reply", "sent"), ("reply_all", "sent"), ("forward", "sent"), ("mark_spam", "spam"), ("mark_not_spam", "inbox")],
)
def test_an_event_may_have_an_operation_that_has_no_route(
    ues: TestClient, scenario: dict[str, Any], operation: str, folder: str
) -> None:
    load(ues, scenario, "events.create")
    message = {"to_addresses": [BOB], "subject": "Re: Hello", "body_text": "Hi", "in_reply_to": "mail"}
    data = {"operation": operation, "input_id": "x", "message_id": "mail", **message, "folder": None}
    event = {"scheduled_time": "2026-03-16T09:00:01Z", "modality": "email", "data": data}
    assert ues.post("/events", json=event).is_success
    ues.post("/simulator/time/advance", json={"seconds": 1})
    subjects = [one["subject"] for one in ues.post("/email/query", json={"folder": folder}).json()["emails"]]
    assert subjects == ["Re: Hello" if folder == "sent" else "Hello"]


def assess(ues: TestClient) -> tuple[str, list[str]]:
    """An assessment of an agent that archives an email. Returns the id of its key, and the hash chain."""
    ues.post("/simulation/clear", json={"reset_time_to": NOW})
    ues.post("/scenario/import/full", json=SAMPLE)
    ues.post("/simulation/start", json={"auto_advance": False})
    key = ues.post("/keys", json={"name": "agent", "permissions": ["email:archive"]}).json()
    action = {"message_ids": ["mail_001"]}
    assert ues.post("/email/archive", json=action, headers={"x-api-key": key["secret"]}).is_success
    ues.post("/simulator/time/advance", json={"seconds": 3600})
    ues.post("/simulator/time/pause")
    ues.post("/simulation/hold", json={"reason": "left over"})
    ues.delete(f"/keys/{key['key_id']}")
    return key["key_id"], [link["hash"] for link in ues.get("/simulation/chain").json()["links"]]


def test_a_second_assessment_after_a_clear_has_the_same_key_ids_and_the_same_hash_chain(ues: TestClient) -> None:
    first = assess(ues)
    assert assess(ues) == first
    assert len(first[1]) == 4
