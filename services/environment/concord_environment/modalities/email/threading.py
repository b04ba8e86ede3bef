"""Threads by RFC 5322 §3.6.4: by References and In-Reply-To, and by the subject for a reply with neither.

The threads do not depend on the order of arrival: a mail that belongs to two threads merges them.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple

from concord_environment.core.transaction import Transaction
from concord_environment.modalities.email.state import Email, EmailState, base_subject, is_reply

SUBJECT_WINDOW: Final = timedelta(days=30)
"""A reply without References joins a thread only within this time: a bare "Re: Hello" a year later starts a new one."""

SUBJECT_CANDIDATES: Final = 100
"""The number of mails, latest first, that a reply without References is compared with."""


class Headers(NamedTuple):
    """The headers that decide a mail's thread."""

    message_id: str
    in_reply_to: str | None
    references: tuple[str, ...]
    subject: str
    sent_at: datetime
    participants: tuple[str, ...]


def headers_of(email: Email) -> Headers:
    """The headers of a mail in the mailbox."""
    return Headers(
        email.message_id, email.in_reply_to, email.references, email.subject, email.sent_at, email.participants
    )


def find_thread(state: EmailState, mail: Headers, transaction: Transaction) -> str:
    """The thread of a new mail: a new one if it belongs to none. Merges several threads into the earliest of them."""
    threads = {relative.thread_id for relative in _relatives(state, mail)}
    if len(threads) < 2:
        return threads.pop() if threads else mail.message_id
    kept, *joined = sorted(threads, key=lambda thread_id: _age(state.emails.found("thread", thread_id)[0]))
    for thread_id in joined:
        for member in state.emails.found("thread", thread_id):
            transaction.put(state.emails, member.message_id, replace(member, thread_id=kept))
    return kept


def references_for(parent: Email) -> tuple[str, ...]:
    """The References of a reply: its parent's, then its parent."""
    return (*parent.references, parent.message_id)


def _age(email: Email) -> tuple[object, str]:
    return email.received_at, email.message_id


def _relatives(state: EmailState, mail: Headers) -> list[Email]:
    # One reply to a missing mail is enough: all of its replies are in one thread.
    emails = state.emails
    answer = emails.last_found("answers", mail.message_id)
    named = mail.references if mail.in_reply_to is None else (*mail.references, mail.in_reply_to)
    found = [emails.get(message_id) or emails.last_found("answers", message_id) for message_id in named]
    relatives = [relative for relative in (*found, answer) if relative is not None]
    return relatives if relatives or named else list(_by_subject(state, mail))


def _by_subject(state: EmailState, mail: Headers) -> Iterable[Email]:
    if not is_reply(mail.subject) or not (base := base_subject(mail.subject)):
        return ()
    people = _others(state, mail)
    candidates = islice(state.emails.latest_found("subject", base), SUBJECT_CANDIDATES)
    near = (other for other in candidates if abs(mail.sent_at - other.sent_at) <= SUBJECT_WINDOW)
    return islice((other for other in near if people & _others(state, other)), 1)


def _others(state: EmailState, mail: Headers | Email) -> set[str]:
    return {address.casefold() for address in mail.participants} - {state.address.casefold()}
