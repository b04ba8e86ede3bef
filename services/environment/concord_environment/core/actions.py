"""The base of all actions: what somebody does in one modality, as data."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict


class Action(BaseModel):
    """One thing done in one modality. Each kind of action is a subclass with its own `operation`."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    modality: ClassVar[str]
    operation: str

    def as_data(self) -> dict[str, Any]:
        """The action as an event's `data`: what was said, and the operation."""
        return {"operation": self.operation, **self.model_dump(mode="json", exclude_unset=True)}
