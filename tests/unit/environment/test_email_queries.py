"""Email queries: every combination of filters finds the matching mails in order, page by page."""

from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from concord_environment.modalities.email.queries import EmailQuery, find_emails
from concord_environment.modalities.email.state import Email, EmailState
from tests.unit.environment.worlds import START, USER

moments = st.integers(0, 6).map(lambda minutes: START + timedelta(minutes=minutes))


@st.composite
def mailboxes(draw: st.DrawFn) -> EmailState:
    state = EmailState()
    for number in range(draw(st.integers(0, 12))):
        received = draw(moments)
        email = Email(
            f"m{number}",
            draw(st.sampled_from(["t1", "t2"])),
            draw(st.sampled_from(["ann@example.com", "Bob@example.com"])),
            (USER,),
            draw(st.sampled_from(["Lunch", "Report"])),
            received,
            received,
            is_read=draw(st.booleans()),
            is_starred=draw(st.booleans()),
            folder=draw(st.sampled_from(["inbox", "archive"])),
            labels=draw(st.sampled_from([(), ("work",)])),
        )
        state.emails.write(email.message_id, email)
    return state


queries = st.builds(
    EmailQuery,
    folder=st.none() | st.sampled_from(["inbox", "archive", "nowhere"]),
    label=st.none() | st.just("work"),
    is_read=st.none() | st.booleans(),
    is_starred=st.none() | st.booleans(),
    from_address=st.none() | st.just("bob@"),
    thread_id=st.none() | st.just("t1"),
    since=st.none() | moments,
    received_before=st.none() | moments,
    sort_by=st.sampled_from(["date", "subject"]),
    sort_order=st.sampled_from(["asc", "desc"]),
    limit=st.integers(1, 4),
)


def matches(email: Email, query: EmailQuery) -> bool:
    return (
        query.folder in (None, email.folder)
        and (query.label is None or query.label in email.labels)
        and query.is_read in (None, email.is_read)
        and query.is_starred in (None, email.is_starred)
        and (query.from_address is None or query.from_address in email.from_address.casefold())
        and query.thread_id in (None, email.thread_id)
        and (query.since is None or email.received_at >= query.since)
        and (query.received_before is None or email.received_at <= query.received_before)
    )


def key(email: Email, query: EmailQuery) -> datetime | str:
    return email.received_at if query.sort_by == "date" else email.subject.casefold()


@given(mailboxes(), queries)
@settings(max_examples=100, deadline=None)
def test_the_pages_of_a_query_hold_each_matching_mail_once_and_in_order(state: EmailState, query: EmailQuery) -> None:
    matching = [email for email in state.emails.rows() if matches(email, query)]
    limit = query.limit or 1
    pages = [
        find_emails(state, query.model_copy(update={"offset": offset})) for offset in range(0, len(matching) + 1, limit)
    ]
    found = [email for page, _ in pages for email in page]
    assert {total for _, total in pages} == {len(matching)}
    assert sorted(email.message_id for email in found) == sorted(email.message_id for email in matching)
    keys = [key(email, query) for email in found]
    assert keys == sorted(keys, reverse=query.sort_order == "desc")
