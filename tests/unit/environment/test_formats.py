"""Standard mail and calendar files: an export imports as the same data, and files of other programs are parsed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord_environment.core.faults import Invalid
from concord_environment.formats.eml import from_eml, to_eml
from concord_environment.formats.ics import from_ics, to_ics
from concord_environment.formats.mbox import from_mbox, to_mbox
from concord_environment.modalities.calendar.recurrence import occurrences
from concord_environment.modalities.calendar.state import Attendee, CalendarEvent, RecurrenceRule
from concord_environment.modalities.email.operations import import_emails
from concord_environment.modalities.email.state import Email, EmailState

USER = "user@example.com"
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)

words = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=60)
lines = st.lists(words.map(lambda text: text.rstrip()), max_size=6).map("\n".join).map(lambda text: text.rstrip("\n"))
ids = st.from_regex(r"[a-z0-9]{1,20}(@[a-z]{1,10}\.example)?", fullmatch=True)
addresses = st.from_regex(r"[a-z]{1,8}(\.[a-z]{1,8})?@[a-z]{1,10}\.example", fullmatch=True)
mails = st.builds(
    Email,
    message_id=ids,
    thread_id=st.just(""),
    from_address=addresses,
    to_addresses=st.lists(addresses, min_size=1, max_size=3, unique=True).map(tuple),
    subject=words.map(lambda text: " ".join(text.split())),
    sent_at=st.integers(0, 10**9).map(lambda second: datetime.fromtimestamp(second, UTC)),
    received_at=st.just(NOW),
    body_text=lines,
    cc_addresses=st.lists(addresses, max_size=2, unique=True).map(tuple),
    in_reply_to=st.none() | ids,
    references=st.lists(ids, max_size=3, unique=True).map(tuple),
    is_read=st.booleans(),
    is_starred=st.booleans(),
    priority=st.sampled_from(["high", "normal", "low"]),
    folder=st.sampled_from(["inbox", "archive", "sent"]),
).map(lambda mail: replace(mail, thread_id=mail.message_id, received_at=mail.sent_at))


@given(mails)
@settings(max_examples=60, deadline=None)
def test_a_mail_survives_export_and_import_as_eml(mail: Email) -> None:
    assert from_eml(to_eml(mail), user=USER, fallback=NOW) == mail


@given(st.lists(mails, min_size=1, max_size=5, unique_by=lambda mail: mail.message_id))
@settings(max_examples=15, deadline=None)
def test_a_mailbox_survives_export_and_import_as_mbox(box: list[Email]) -> None:
    assert list(from_mbox(to_mbox(box), user=USER, fallback=NOW)) == box


REAL_MAIL = b"""Return-Path: <eve@corp.example>\r
Received: from mx.corp.example by mail.example.com; Tue, 3 Mar 2026 10:00:01 +0100\r
Date: Tue, 3 Mar 2026 10:00:00 +0100\r
From: =?utf-8?q?Eve_M=C3=BCller?= <eve@corp.example>\r
To: "The User" <user@example.com>, bob@example.com\r
Subject: =?utf-8?b?UmU6IEvDpHNl?=\r
Message-ID: <CAF123@mail.corp.example>\r
In-Reply-To: <first@example.com>\r
References: <zeroth@example.com>\r
 <first@example.com>\r
MIME-Version: 1.0\r
Content-Type: multipart/mixed; boundary="x"\r
\r
--x\r
Content-Type: text/plain; charset="iso-8859-1"\r
Content-Transfer-Encoding: quoted-printable\r
\r
K=E4se ist da.\r
--x\r
Content-Type: application/pdf; name="bill.pdf"\r
Content-Disposition: attachment; filename="bill.pdf"\r
Content-Transfer-Encoding: base64\r
\r
aGVsbG8=\r
--x--\r
"""


def test_a_real_mail_is_parsed() -> None:
    mail = from_eml(REAL_MAIL, user=USER, fallback=NOW)
    assert (mail.message_id, mail.from_address) == ("CAF123@mail.corp.example", "eve@corp.example")
    assert (mail.subject, mail.body_text) == ("Re: Käse", "Käse ist da.")
    assert mail.references == ("zeroth@example.com", "first@example.com")
    assert mail.sent_at == datetime(2026, 3, 3, 9, tzinfo=UTC)
    (bill,) = mail.attachments
    assert (bill.filename, bill.size, bill.mime_type) == ("bill.pdf", 5, "application/pdf")


def test_imported_mails_are_grouped_into_threads() -> None:
    first = from_eml(
        b"Message-ID: <first@example.com>\nFrom: user@example.com\nTo: eve@corp.example\n\nHi", user=USER, fallback=NOW
    )
    state = EmailState()
    import_emails(state, [from_eml(REAL_MAIL, user=USER, fallback=NOW), first])
    assert state.thread("first@example.com").message_count == 2
    assert first.folder == "sent"


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"Subject: no sender\n\ntext"])
def test_an_invalid_mail_is_refused(content: bytes) -> None:
    with pytest.raises(Invalid):
        from_eml(content, user=USER, fallback=NOW)


GOOGLE = b"""BEGIN:VCALENDAR\r
VERSION:2.0\r
PRODID:-//Google Inc//Google Calendar 70.9054//EN\r
BEGIN:VTIMEZONE\r
TZID:America/New_York\r
BEGIN:DAYLIGHT\r
TZOFFSETFROM:-0500\r
TZOFFSETTO:-0400\r
TZNAME:EDT\r
DTSTART:19700308T020000\r
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU\r
END:DAYLIGHT\r
BEGIN:STANDARD\r
TZOFFSETFROM:-0400\r
TZOFFSETTO:-0500\r
TZNAME:EST\r
DTSTART:19701101T020000\r
RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU\r
END:STANDARD\r
END:VTIMEZONE\r
BEGIN:VEVENT\r
UID:standup@google.com\r
DTSTAMP:20260101T000000Z\r
DTSTART;TZID=America/New_York:20260302T100000\r
DTEND;TZID=America/New_York:20260302T103000\r
RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=4\r
EXDATE;TZID=America/New_York:20260316T100000\r
SUMMARY:Standup\\, weekly\r
ORGANIZER;CN=Boss:mailto:boss@example.com\r
ATTENDEE;CN=User;PARTSTAT=TENTATIVE;ROLE=OPT-PARTICIPANT:mailto:user@example.com\r
SEQUENCE:3\r
END:VEVENT\r
BEGIN:VEVENT\r
UID:standup@google.com\r
DTSTAMP:20260101T000000Z\r
RECURRENCE-ID;TZID=America/New_York:20260309T100000\r
DTSTART;TZID=America/New_York:20260309T140000\r
DTEND;TZID=America/New_York:20260309T143000\r
SUMMARY:Standup\\, moved\r
END:VEVENT\r
BEGIN:VEVENT\r
UID:holiday@google.com\r
DTSTART;VALUE=DATE:20260704\r
DTEND;VALUE=DATE:20260705\r
SUMMARY:Holiday\r
END:VEVENT\r
END:VCALENDAR\r
"""


def read(content: bytes) -> list[CalendarEvent]:
    return from_ics(content, calendar_id="primary", timezone="Europe/Berlin", now=NOW)


def test_a_real_calendar_is_parsed_with_series_exceptions_and_zones() -> None:
    series, moved, holiday = read(GOOGLE)
    assert (series.title, series.organizer, series.sequence) == ("Standup, weekly", "boss@example.com", 3)
    (attendee,) = series.attendees
    assert (attendee.response, attendee.optional, attendee.display_name) == ("tentative", True, "User")
    starts = [one.start for one in occurrences(series, None, None)]
    # The clocks change on March 8; the local time stays ten o'clock.
    assert [start.isoformat() for start in starts] == [
        "2026-03-02T15:00:00+00:00",
        "2026-03-09T14:00:00+00:00",
        "2026-03-23T14:00:00+00:00",
    ]
    assert (moved.parent_event_id, moved.recurrence_id) == (series.event_id, "2026-03-09")
    assert (holiday.all_day, holiday.timezone) == (True, "Europe/Berlin")


def test_a_calendar_survives_export_and_import_as_ics() -> None:
    events = read(GOOGLE)
    assert read(to_ics(events)) == events


rules = st.builds(
    RecurrenceRule,
    frequency=st.sampled_from(["daily", "weekly", "monthly", "yearly"]),
    interval=st.integers(1, 4),
    end_type=st.just("count"),
    count=st.integers(1, 12),
)


@given(
    rules,
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
    st.integers(0, 400),
    st.integers(0, 3),
)
@settings(max_examples=50, deadline=None)
def test_a_series_keeps_its_times_over_export_and_import(
    rule: RecurrenceRule, zone: str, days: int, excepted: int
) -> None:
    start = NOW + timedelta(days=days)
    series = CalendarEvent(
        "series",
        "primary",
        "Series",
        start,
        start + timedelta(hours=1),
        NOW,
        NOW,
        timezone=zone,
        attendees=(Attendee(email="eve@example.com", response="accepted"),),
        recurrence=rule,
    )
    exceptions = [one.day for one in occurrences(series, None, None)][:excepted]
    series = replace(series, recurrence_exceptions=tuple(exceptions))
    (imported,) = read(to_ics([series]))
    assert list(occurrences(imported, None, None)) == list(occurrences(series, None, None))
    assert imported.attendees == series.attendees


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"BEGIN:VCALENDAR\r\nEND:VCALENDAR",
        b"\xff",
        GOOGLE.replace(b"UID:holiday@google.com\r\n", b""),
        GOOGLE.replace(b"FREQ=WEEKLY;BYDAY=MO;COUNT=4", b"FREQ=SECONDLY"),
        GOOGLE.replace(b"FREQ=WEEKLY;BYDAY=MO;COUNT=4", b"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"),
        GOOGLE.replace(b"DTSTART;VALUE=DATE:20260704", b"DTSTART;VALUE=DATE:99990704"),
    ],
)
def test_an_invalid_calendar_or_a_series_without_occurrences_is_refused(content: bytes) -> None:
    with pytest.raises(Invalid):
        read(content)
