"""Threads by References and In-Reply-To (RFC 5322 §3.6.4), and by the subject for a reply without both headers.

The threads do not depend on the order of arrival: an email that belongs to two threads merges them.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple

from concord_environment.core.transaction import Transaction
from concord_environment.modalities.email.state import Email, EmailState, base_subject, is_reply

SUBJECT_WINDOW: Final = timedelta(days=30)
"""The time within which a reply without References joins a thread by its subject.

A bare "Re: Hello" a year later starts a new thread.
"""

SUBJECT_CANDIDATES: Final = 100
"""The number of emails, latest first, among which a reply without References looks for its thread."""


class Headers(NamedTuple):
    """The headers that determine the thread of an email."""

    message_id: str
    in_reply_to: str | None
    references: tuple[str, ...]
    subject: str
    sent_at: datetime
    participants: tuple[str, ...]


def headers_of(email: Email) -> Headers:
    """The headers of an email in the mailbox."""
    return Headers(
        email.message_id, email.in_reply_to, email.references, email.subject, email.sent_at, email.participants
    )


def find_thread(state: EmailState, headers: Headers, transaction: Transaction) -> str:
    """The id of the thread of a new email.

    An email without a thread starts a new one. An email that belongs to several threads merges them into the earliest.
    """
    threads = {relative.thread_id for relative in _relatives(state, headers)}
    if len(threads) < 2:
        return threads.pop() if threads else headers.message_id
    kept, *merged = sorted(threads, key=lambda thread_id: _arrival(state.emails.found("thread", thread_id)[0]))
    for thread_id in merged:
        for email in state.emails.found("thread", thread_id):
            transaction.put(state.emails, email.message_id, replace(email, thread_id=kept))
    return kept


def references_for(parent: Email) -> tuple[str, ...]:
    """The References of a reply: the References of the parent, then its Message-ID."""
    return (*parent.references, parent.message_id)


def _arrival(email: Email) -> tuple[object, str]:
    return email.received_at, email.message_id


def _relatives(state: EmailState, headers: Headers) -> list[Email]:
    # All replies to a missing email are in one thread, so that one of them is enough.
    emails = state.emails
    reply = emails.last_found("referenced", headers.message_id)
    ids = headers.references if headers.in_reply_to is None else (*headers.references, headers.in_reply_to)
    ancestors = [emails.get(message_id) or emails.last_found("referenced", message_id) for message_id in ids]
    relatives = [relative for relative in (*ancestors, reply) if relative is not None]
    return relatives if relatives or ids else list(_by_subject(state, headers))


def _by_subject(state: EmailState, headers: Headers) -> Iterable[Email]:
    if not is_reply(headers.subject) or not (base := base_subject(headers.subject)):
        return ()
    correspondents = _correspondents(state, headers)
    candidates = islice(state.emails.latest_found("subject", base), SUBJECT_CANDIDATES)
    recent = (email for email in candidates if abs(headers.sent_at - email.sent_at) <= SUBJECT_WINDOW)
    return islice((email for email in recent if correspondents & _correspondents(state, email)), 1)


def _correspondents(state: EmailState, headers: Headers | Email) -> set[str]:
    """The participants other than the user."""
    return {address.casefold() for address in headers.participants} - {state.address.casefold()}
