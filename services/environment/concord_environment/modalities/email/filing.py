"""Filing mails that come from a file: in the order of their dates, in threads, without anybody doing it."""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from concord_environment.core.faults import Conflict
from concord_environment.core.identity import namespace
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.email.records import Email
from concord_environment.modalities.email.state import EmailState
from concord_environment.modalities.email.threading import find_thread, headers_of


def file_all(state: EmailState, emails: Sequence[Email]) -> int:
    """Puts mails into a mailbox. Conflict, and nothing is put in, where one is there already."""
    known = [email.message_id for email in emails if email.message_id in state.emails]
    repeated = len({email.message_id for email in emails}) < len(emails)
    if known or repeated:
        raise Conflict(f"a mail {known[0]} is there already" if known else "two mails have one Message-ID")
    for email in sorted(emails, key=attrgetter("received_at")):
        transaction = Transaction(email.received_at, namespace(0), 0, None)
        thread_id = find_thread(state, headers_of(email), transaction)
        transaction.put(state.emails, email.message_id, replace(email, thread_id=thread_id))
    return len(emails)
