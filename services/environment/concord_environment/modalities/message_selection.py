"""The fields by which a request selects one message or several: emails, or text messages."""

from typing import Annotated, Self

from pydantic import model_validator

from concord_environment.core.actions import Action
from concord_environment.modalities.fields import Id, Ids, NoneAsEmpty


class MessageSelection(Action):
    """Base class of the requests for one or several messages. One of the fields is required."""

    message_id: Id | None = None
    message_ids: Annotated[Ids, NoneAsEmpty] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the selected messages, without duplicates."""
        return tuple(dict.fromkeys((*filter(None, (self.message_id,)), *self.message_ids)))

    @model_validator(mode="after")
    def _has_ids(self) -> Self:
        if not self.ids:
            raise ValueError("message_id or message_ids is required")
        return self
