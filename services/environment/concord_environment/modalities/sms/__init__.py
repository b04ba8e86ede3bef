"""The modality `sms`: text messages (SMS and RCS) in conversations."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any, Final

from pydantic import Field

from concord_environment.modalities.documents import ScenarioForm, StateDocument, load_rows
from concord_environment.modalities.fields import Id, Phone
from concord_environment.modalities.modality import ONLY_KEY, EventFacts, Modality
from concord_environment.modalities.sms.operations import SMS_IMPLEMENTATIONS
from concord_environment.modalities.sms.requests import NESTED, SMSAction
from concord_environment.modalities.sms.state import Conversation, SMSAccount, SMSMessage, SMSState
from concord_environment.modalities.sms.views import SMS_VIEWS
from concord_environment_client.modalities.sms import SMSCalls


class SMSDocument(StateDocument):
    """The text messages and conversations of the user's phone."""

    user_phone_number: Phone = "+15550000000"
    max_messages_per_conversation: Annotated[int, Field(ge=1)] = 10_000
    messages: dict[Id, SMSMessage] = Field(default_factory=dict)
    conversations: dict[Id, Conversation] = Field(default_factory=dict)


def _load(state: SMSState, document: SMSDocument) -> None:
    state.account.write(ONLY_KEY, SMSAccount(document.user_phone_number, document.max_messages_per_conversation))
    load_rows(state.conversations, document.conversations, "thread_id")
    load_rows(state.messages, document.messages, "message_id")


def _dump(state: SMSState) -> dict[str, Any]:
    account = asdict(state.current_account)
    return {"messages": dict(state.messages.items()), "conversations": dict(state.conversations.items()), **account}


def _event_data(state: SMSState, action: SMSAction, facts: EventFacts) -> dict[str, Any]:  # noqa: ARG001
    """UES's form of an SMS event: the fields of the action are in the nested object of its kind."""
    given = action.as_data()
    return {**dict.fromkeys(NESTED), "action": given.pop("operation"), action.nested: given}


def _inconsistencies(state: SMSState) -> Iterator[str]:
    for message in state.messages.rows():
        if message.thread_id not in state.conversations:
            yield f"sms: conversation {message.thread_id} of message {message.message_id} does not exist"


MODALITY: Final = Modality(
    calls=SMSCalls,
    description="the user's text messages",
    state=SMSState,
    implementations=SMS_IMPLEMENTATIONS,
    views=SMS_VIEWS,
    scenario=ScenarioForm(SMSDocument, _load, _dump),
    inconsistencies=_inconsistencies,
    event_data=_event_data,
)
