"""Threads by RFC 5322 §3.6.4: References, then In-Reply-To; the subject only where neither leads anywhere.

The grouping of mails that reference one another does not depend on the order in which they come in: a mail that joins
two threads makes them one.
"""

from collections.abc import Iterable
from datetime import timedelta
from itertools import islice
from typing import Final

from concord_environment.core.transaction import Transaction
from concord_environment.modalities.email.records import Email
from concord_environment.modalities.email.state import EmailState
from concord_environment.modalities.email.subjects import base_subject, is_reply

SUBJECT_WINDOW: Final = timedelta(days=30)
"""An answer without References is looked for among mails of this age: a bare "Re: Hello" a year on is another talk."""

SUBJECT_CANDIDATES: Final = 100
"""How many of the latest mails with its subject an answer without References is held against."""


def place_in_thread(state: EmailState, email: Email, transaction: Transaction) -> Email:
    """The mail with the thread that it belongs to; threads that it joins become one, the one of the earliest mail."""
    relatives = [*_named(state, email), *islice(state.emails.latest_found("answers", email.message_id), 1)]
    if not relatives and not email.references and email.in_reply_to is None:
        relatives = list(_by_subject(state, email))
    threads = dict.fromkeys(relative.thread_id for relative in relatives)
    if not threads:
        return email
    if len(threads) == 1:
        return email.in_thread(next(iter(threads)))
    kept, *joined = sorted(threads, key=lambda thread_id: _age(state.emails.found("thread", thread_id)[0]))
    for thread_id in joined:
        for member in state.emails.found("thread", thread_id):
            transaction.put(state.emails, member.message_id, member.in_thread(kept))
    return email.in_thread(kept)


def references_for(parent: Email) -> tuple[str, ...]:
    """The References of an answer: the parent's, and the parent."""
    return (*parent.references, parent.message_id)


def _age(email: Email) -> tuple[object, str]:
    return email.received_at, email.message_id


def _named(state: EmailState, email: Email) -> Iterable[Email]:
    if email.in_reply_to is None and not email.references:
        return
    for message_id in dict.fromkeys((*email.references, *filter(None, (email.in_reply_to,)))):
        if (relative := state.emails.get(message_id)) is not None:
            yield relative
        else:
            # Two answers to a mail that is not here belong together; one that came before stands for them all.
            yield from islice(state.emails.latest_found("answers", message_id), 1)


def _by_subject(state: EmailState, email: Email) -> Iterable[Email]:
    if not is_reply(email.subject) or not (base := base_subject(email.subject)):
        return ()
    people = _others(state, email)
    candidates = islice(state.emails.latest_found("subject", base), SUBJECT_CANDIDATES)
    near = (other for other in candidates if abs(email.sent_at - other.sent_at) <= SUBJECT_WINDOW)
    return islice((other for other in near if people & _others(state, other)), 1)


def _others(state: EmailState, email: Email) -> set[str]:
    return {address.casefold() for address in email.participants} - {state.address.casefold()}
