"""The base class of all actions."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict


class Action(BaseModel):
    """One change to one modality, as data. Each operation has a subclass of its own."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    modality: ClassVar[str]
    operation: str

    def as_data(self) -> dict[str, Any]:
        """The action as an event's `data`: the operation and the fields that the caller set."""
        return {"operation": self.operation, **self.model_dump(mode="json", exclude_unset=True)}
