"""The tables of a phone's messages."""

from datetime import datetime

from concord_environment.core.clock import to_us
from concord_environment.core.order import Place
from concord_environment.core.tables import Table
from concord_environment.modalities.sms.records import Conversation, SMSAccount, SMSMessage
from concord_environment.modalities.states import SELF

UNREAD = "unread"


def _place(message: SMSMessage) -> Place:
    return (to_us(message.sent_at),)


def _unread(message: SMSMessage) -> tuple[str, ...]:
    if message.direction == "incoming" and not message.is_read and not message.is_deleted:
        return UNREAD, f"{UNREAD}:{message.thread_id}"
    return ()


def members(conversation: Conversation) -> str:
    """What makes a conversation the one of its members: their numbers."""
    return " ".join(sorted(participant.phone_number for participant in conversation.participants))


class SMSState:
    """Messages in the order they were sent, conversations, and whose phone it is."""

    def __init__(self) -> None:
        self.messages: Table[SMSMessage] = Table(
            "sms.messages",
            SMSMessage,
            order=_place,
            indexes={"thread": lambda message: (message.thread_id,), "flag": _unread},
        )
        self.conversations: Table[Conversation] = Table(
            "sms.conversations", Conversation, lookups={"members": lambda conversation: (members(conversation),)}
        )
        self.account: Table[SMSAccount] = Table("sms.account", SMSAccount)

    @property
    def tables(self) -> tuple[Table[SMSMessage], Table[Conversation], Table[SMSAccount]]:
        """Its tables."""
        return self.messages, self.conversations, self.account

    @property
    def current_account(self) -> SMSAccount:
        """Whose phone it is."""
        return self.account.get(SELF) or SMSAccount()

    @property
    def number(self) -> str:
        """The simulated user's number."""
        return self.current_account.user_phone_number

    def last_message_at(self, conversation: Conversation) -> datetime:
        """When a conversation's last message was sent; before the first, when it was begun."""
        latest = self.messages.group_window("thread", conversation.thread_id, 0, 1, latest_first=True)
        return latest[0].sent_at if latest else conversation.created_at
