"""The tables of a chat."""

from concord_environment.core.clock import to_us
from concord_environment.core.order import Place
from concord_environment.core.tables import Table
from concord_environment.modalities.chat.records import ChatConversation, ChatMessage, ChatSettings
from concord_environment.modalities.states import SELF


def _place(message: ChatMessage) -> Place:
    return to_us(message.timestamp), message.sequence


class ChatState:
    """Messages in order, by conversation."""

    def __init__(self) -> None:
        self.messages: Table[ChatMessage] = Table(
            "chat.messages",
            ChatMessage,
            order=_place,
            indexes={"conversation": lambda message: (message.conversation_id,)},
        )
        self.conversations: Table[ChatConversation] = Table("chat.conversations", ChatConversation)
        self.settings: Table[ChatSettings] = Table("chat.settings", ChatSettings)

    @property
    def tables(self) -> tuple[Table[ChatMessage], Table[ChatConversation], Table[ChatSettings]]:
        """Its tables."""
        return self.messages, self.conversations, self.settings

    @property
    def current_settings(self) -> ChatSettings:
        """The settings that hold."""
        return self.settings.get(SELF) or ChatSettings()
