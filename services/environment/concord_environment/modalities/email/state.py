"""The tables of a mailbox, and the threads in it."""

from concord_environment.core.clock import to_us
from concord_environment.core.order import Place
from concord_environment.core.tables import Table
from concord_environment.modalities.email.records import Email, EmailAccount, EmailThread
from concord_environment.modalities.email.subjects import base_subject
from concord_environment.modalities.states import SELF

UNREAD = "unread"
STARRED = "starred"


def _place(email: Email) -> Place:
    return (to_us(email.received_at),)


def _flags(email: Email) -> tuple[str, ...]:
    unread = () if email.is_read else (UNREAD,)
    return (*unread, STARRED) if email.is_starred else unread


def _labels(email: Email) -> tuple[str, ...]:
    return tuple(dict.fromkeys(email.labels)) if email.labels else ()


def _answers(email: Email) -> tuple[str, ...]:
    named = email.references if email.in_reply_to is None else (*email.references, email.in_reply_to)
    return tuple(dict.fromkeys(named)) if named else ()


class EmailState:
    """A mailbox: its mails in the order of their arrival, by folder, label and flag; and whose it is."""

    def __init__(self) -> None:
        self.emails: Table[Email] = Table(
            "email.emails",
            Email,
            order=_place,
            indexes={
                "folder": lambda email: (email.folder,),
                "label": _labels,
                "flag": _flags,
            },
            lookups={
                "sender": lambda email: (email.from_address.casefold(),),
                "thread": lambda email: (email.thread_id,),
                "subject": lambda email: (base_subject(email.subject),),
                # What a mail says it answers: its parent may come in after it.
                "answers": _answers,
            },
        )
        self.account: Table[EmailAccount] = Table("email.account", EmailAccount)

    @property
    def tables(self) -> tuple[Table[Email], Table[EmailAccount]]:
        """Its tables."""
        return self.emails, self.account

    @property
    def address(self) -> str:
        """The simulated user's address."""
        return (self.account.get(SELF) or EmailAccount()).user_email_address

    def thread(self, thread_id: str) -> EmailThread | None:
        """A thread, worked out from its mails."""
        emails = self.emails.found("thread", thread_id)
        if not emails:
            return None
        participants = dict.fromkeys(address for email in emails for address in email.participants)
        return EmailThread(
            thread_id=thread_id,
            subject=emails[0].subject,
            participant_addresses=tuple(sorted(participants)),
            message_ids=tuple(email.message_id for email in emails),
            created_at=emails[0].received_at,
            last_message_at=emails[-1].received_at,
            message_count=len(emails),
            unread_count=sum(not email.is_read for email in emails),
        )
