"""The people of a day answer what the plan says: the user once with all facts, desks with what their forms lack."""

from datetime import UTC, datetime, timedelta

from concord_assistant.characters.models import ScheduledResponse
from concord_assistant.office.people import MAX_RESENT, PlannedPeople
from concord_assistant.office.plan import DECIDE, DayPlan, Desk, Errand, FormField, PlannedReaction
from concord_assistant.results import ActionLogEntry

NINE = datetime(2031, 1, 6, 9, tzinfo=UTC)

DESK = Desk(
    desk_id="chairs",
    address="pat.vole@elmcrest.example",
    title="Order form",
    fields=[FormField(name="Quote", kind="code"), FormField(name="Quantity", kind="number")],
    reference="Quote",
)
PLAN = DayPlan(
    user=["kim.user@larkfield.example"],
    desks=[DESK],
    errands=[
        Errand(errand_id="order", title="Chairs", prompt="Order chairs.", question="The red ones."),
        Errand(errand_id="meet", title="Meeting", prompt="Meet Pat."),
    ],
)


def _replies(*texts: str, action: str = "chat.send_message") -> list[ScheduledResponse]:
    """What is answered to these messages, one in each hour."""
    people, found = PlannedPeople(PLAN), []
    for number, text in enumerate(texts):
        at = NINE + timedelta(hours=number)
        parameters = (
            {"content": text} if action.startswith("chat") else {"to_addresses": [DESK.address], "body_text": text}
        )
        entry = ActionLogEntry(turn=number + 1, timestamp=at, action=action, parameters=parameters, success=True)
        found += people.replies([entry], (at, at + timedelta(hours=1)), {})
    return found


def test_the_user_tells_all_planned_facts_at_the_first_message() -> None:
    [reply] = _replies("Please tell me which chairs you mean.")
    assert reply.parameters["content"] == f"The red ones.\n{DECIDE}"


def test_the_user_answers_later_questions_and_no_other_messages() -> None:
    replies = _replies("Which chairs?", "I ordered them.", "Shall I order more?")
    assert [each.parameters["content"] for each in replies[1:]] == [DECIDE]


def test_a_desk_confirms_a_valid_form_and_sends_an_invalid_one_again() -> None:
    replies = _replies("Quote: KX-44718", "Quote: KX-44718\nQuantity: 12", action="email.send")
    assert "Quantity is missing" in replies[0].parameters["body_text"]
    assert replies[1].parameters["body_text"] == DESK.confirmation


def test_a_desk_sends_its_form_again_a_few_times_only() -> None:
    assert len(_replies(*["Send me chairs"] * (MAX_RESENT + 3), action="email.send")) == MAX_RESENT


def test_a_desk_without_a_confirmation_says_nothing_to_a_valid_form() -> None:
    silent = PLAN.model_copy(update={"desks": [DESK.model_copy(update={"confirmation": None})]})
    people = PlannedPeople(silent)
    parameters = {"to_addresses": [DESK.address], "body_text": "Quote: KX-44718\nQuantity: 12"}
    entry = ActionLogEntry(turn=1, timestamp=NINE, action="email.send", parameters=parameters, success=True)
    assert people.replies([entry], (NINE, NINE + timedelta(hours=1)), {}) == []


def test_a_guest_responds_to_the_latest_event_with_an_invitation_once() -> None:
    declines = PlannedReaction(
        reaction_id="declines",
        on="invitation",
        address=DESK.address,
        after=timedelta(minutes=5),
        modality="calendar",
        data={"attendee_email": DESK.address, "response": "declined"},
    )
    people = PlannedPeople(PLAN.model_copy(update={"reactions": [declines]}))
    guests = [{"email": DESK.address}]
    events = {
        name: {"event_id": name, "attendees": each, "updated_at": f"2031-01-06T0{hour}:00:00Z"}
        for name, each, hour in (("old", guests, 7), ("new", guests, 9), ("other", [], 9))
    }
    entry = ActionLogEntry(
        turn=1, timestamp=NINE, action="calendar.create", parameters={"attendees": guests}, success=True
    )
    found = people.replies([entry, entry], (NINE, NINE + timedelta(hours=1)), events)
    assert [each.parameters["event_id"] for each in found] == ["new"]
