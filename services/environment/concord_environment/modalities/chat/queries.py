"""Looking for chat messages: by conversation, role, text, date; paged."""

from concord_environment.modalities.chat.records import ChatMessage, Role, text_of
from concord_environment.modalities.chat.state import ChatState
from concord_environment.modalities.fields import Id, Line, Moment, Page, SortOrder


class ChatQuery(Page):
    """Every filter that is given has to hold."""

    conversation_id: Id | None = None
    role: Role | None = None
    search: Line | None = None
    since: Moment | None = None
    until: Moment | None = None
    sort_order: SortOrder = "asc"


def find_chat(state: ChatState, query: ChatQuery) -> tuple[list[ChatMessage], int]:
    """The page of messages that a query asks for, and how many there are in all."""
    candidates = (
        state.messages.rows()
        if query.conversation_id is None
        else state.messages.group("conversation", query.conversation_id)
    )
    words = None if query.search is None else query.search.casefold()
    found = [
        message
        for message in candidates
        if (query.role is None or message.role == query.role)
        and (query.since is None or message.timestamp >= query.since)
        and (query.until is None or message.timestamp <= query.until)
        and (words is None or words in text_of(message.content).casefold())
    ]
    if query.sort_order == "desc":
        found.reverse()
    return found[query.first : query.stop], len(found)
