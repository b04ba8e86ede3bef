"""What the rules read in a user's message."""

from datetime import UTC, datetime
from typing import Any

import pytest

from concord_purple.assistant.rules.people import Person, people_in
from concord_purple.assistant.rules.tasks import Reading, read_task

NOW = datetime(2026, 5, 4, 8, tzinfo=UTC)
TOM = Person("Tom Okafor", "tom.okafor@fernway.example")
ANA = Person("Ana Ruiz", "ana.ruiz@fernway.example", "+15550100001")
PEOPLE = [TOM, ANA]


def read(text: str) -> Reading:
    """The reading of a message."""
    return read_task(text, PEOPLE, NOW, UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tell Tom that I am late.", {"kind": "write", "people": (TOM,), "channel": "email", "text": "I am late."}),
        ("Text Ana that the door is open.", {"kind": "write", "people": (ANA,), "channel": "sms"}),
        (
            "Ask Ana whether she can come.",
            {"kind": "write", "text": "Could you please tell me whether she can come?"},
        ),
        ("Forward the invoice from Tom to Ana.", {"kind": "forward", "people": (ANA,), "senders": (TOM,)}),
        ("Archive all newsletters from Tom.", {"kind": "file", "action": "email_archive", "senders": (TOM,)}),
        (
            "Label the emails about budget as Finance.",
            {"kind": "file", "action": "email_add_label", "target": "Finance", "about": ("budget",)},
        ),
        ('Decline the invitation to "Gala".', {"kind": "respond", "action": "declined", "about": ("Gala",)}),
        ("Remind me to call Ana tomorrow at 10:00.", {"kind": "remind"}),
        ("Write Tom a time at which I am free on Thursday between 13:00 and 15:00.", {"kind": "propose"}),
        ('Put "Lunch" into my calendar tomorrow from 12:00 to 13:00.', {"kind": "enter", "about": ("Lunch",)}),
        ("Answer the questions in the emails of customers.", {"kind": "answer"}),
        ("Tell me here what is new.", {"kind": "report"}),
    ],
)
def test_a_sentence_is_one_task(text: str, expected: dict[str, Any]) -> None:
    [task] = read(text).tasks
    assert {name: getattr(task, name) for name in expected} == expected


def test_a_pronoun_means_the_person_who_was_named_last() -> None:
    [task] = read("Tom wants to meet me on Thursday. Write him when I am free.").tasks
    assert (task.kind, task.people) == ("propose", (TOM,))


def test_a_task_after_a_consent_waits_for_that_person() -> None:
    [task] = read('When Tom has agreed, put "Talk" into my calendar.').tasks
    assert (task.kind, task.after) == ("enter", TOM)


def test_what_the_user_forbids_is_no_task() -> None:
    assert read("Do not write to Tom. Never delete emails.").tasks == ()


def test_the_report_comes_after_all_other_tasks() -> None:
    tasks = read("Tell me when it is done. Forward the invoice from Tom to Ana.").tasks
    assert [task.kind for task in tasks] == ["forward", "report"]


def test_statements_are_facts_and_unknown_orders_are_named() -> None:
    reading = read("The office opens at 9:00. Check the weather in Paris.")
    assert reading.facts == ("The office opens at 9:00.",)
    assert reading.unread == ("Check the weather in Paris.",)


def test_people_have_the_names_of_their_signatures_and_addresses() -> None:
    email = {
        "from_address": "t.okafor@fernway.example",
        "to_addresses": ["nora.haas@brightline.example"],
        "cc_addresses": [],
        "body_text": "Hello,\n\nBest regards\nT Okafor",
    }
    found = people_in([email], [], [], "Call Ben (+49 30 5550123).")
    assert found == [
        Person("T Okafor", "t.okafor@fernway.example"),
        Person("Nora Haas", "nora.haas@brightline.example"),
        Person("Ben", None, "+49305550123"),
    ]


def test_a_condition_that_no_rule_can_check_is_named_and_not_assumed() -> None:
    reading = read("If the train is late, tell Tom that I am late.")
    assert reading.tasks == ()
    assert reading.unread == ("If the train is late, tell Tom that I am late.",)


def test_a_question_about_a_person_is_asked_of_the_other() -> None:
    [task] = read("Ask Tom by email when Ana arrives.").tasks
    assert (task.people, task.text) == ((TOM,), "Could you please tell me when Ana arrives?")


def test_newsletters_are_filed_until_the_stated_time() -> None:
    [task] = read("Archive newsletters, also those that arrive until 9:00.").tasks
    assert (task.kind, task.category, task.until) == ("file", "bulk", NOW.replace(hour=9))


def test_moving_a_meeting_files_no_emails() -> None:
    assert read("Move the meeting with Tom, and write no emails.").tasks == ()


def test_nothing_is_done_that_depends_on_answers_which_no_rule_reads() -> None:
    reading = read('Wait until all have answered. Then put "Talk" into my calendar tomorrow at 10:00.')
    assert reading.tasks == ()
    assert len(reading.unread) == 2


def test_a_statement_with_a_verb_of_writing_is_no_order() -> None:
    assert read("Tom: he wrote in an email that he is late.").tasks == ()


def test_wishes_about_emails_are_orders() -> None:
    archive, star = read("Newsletters go to the archive, and emails that need an answer get a star.").tasks
    assert (archive.action, archive.category) == ("email_archive", "bulk")
    assert (star.action, star.category) == ("email_star", "asking")
