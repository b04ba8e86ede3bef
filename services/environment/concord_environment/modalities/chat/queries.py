"""Looking for chat messages: by conversation, role, text, date; paged."""

from collections.abc import Iterable
from itertools import takewhile

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
    latest_first = query.sort_order == "desc"
    if (query.conversation_id, query.role, query.search, query.since, query.until) == (None,) * 5:
        return state.messages.window(query.first, query.stop, latest_first=latest_first), len(state.messages)
    words = None if query.search is None else query.search.casefold()
    found = [
        message
        for message in _candidates(state, query)
        if (query.role is None or message.role == query.role)
        and (query.until is None or message.timestamp <= query.until)
        and (words is None or words in text_of(message.content).casefold())
    ]
    if not latest_first:
        found.reverse()
    return found[query.first : query.stop], len(found)


def _candidates(state: ChatState, query: ChatQuery) -> Iterable[ChatMessage]:
    """The latest first, down to the moment that is asked for."""
    if query.conversation_id is None:
        candidates = state.messages.rows(latest_first=True)
    else:
        candidates = state.messages.group("conversation", query.conversation_id, latest_first=True)
    since = query.since
    return candidates if since is None else takewhile(lambda message: message.timestamp >= since, candidates)
