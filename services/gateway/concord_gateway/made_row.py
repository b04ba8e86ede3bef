"""The row as the evaluator made it. The gateway reads little of it, and hands it on as JSON."""

from dataclasses import dataclass, replace
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic_core import from_json

from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.verdict import Verdict


class _Read(BaseModel):
    """A part of the row, with the fields that are read here."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Judge(_Read):
    source: Literal["rules", "llm"]


class TrialHead(_Read):
    """What the gateway counts of a trial."""

    usable: bool
    overall_score: float | None
    judge: _Judge | None


class _Scoring(_Read):
    usable_trials: int


class RowHead(_Read):
    """What the gateway reads of a row's detail."""

    scoring: _Scoring
    trials: list[TrialHead]
    infrastructure: list[InfrastructureFailure]
    verdict: Verdict | None = None


class _Row(_Read):
    detail: RowHead


@dataclass(frozen=True, slots=True)
class MadeRow:
    """A row: its JSON, a valid `ResultRow`, and what is read of it. To validate all of it again takes longer than all
    else that the gateway does with it."""

    head: RowHead
    document: dict[str, JsonValue]

    @classmethod
    def read(cls, text: str) -> Self:
        """The row in its JSON. Raises ValueError."""
        return cls(_Row.model_validate_json(text).detail, from_json(text))

    def with_bundle(self, sha256: str) -> Self:
        """The row with the digest of its bundle."""
        return self._with("bundle_sha256", sha256)

    def with_warning(self, warning: str) -> Self:
        """The row with a further warning."""
        detail = self.document["detail"]
        assert isinstance(detail, dict)  # nosec B101  # noqa: S101 - it was read
        warnings = detail["warnings"]
        assert isinstance(warnings, list)  # nosec B101  # noqa: S101 - of a valid row
        return self._with("warnings", [*warnings, warning])

    def _with(self, name: str, value: JsonValue) -> Self:
        detail = self.document["detail"]
        assert isinstance(detail, dict)  # nosec B101  # noqa: S101 - it was read
        return replace(self, document={**self.document, "detail": {**detail, name: value}})
