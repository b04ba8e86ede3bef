"""The document of a trial: one part by each stage, saved once, under the version of the program that began it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from concord.storage.ports import AssessmentStore

VERSION: Final = 2
"""Changes whenever the content of a part does. A program reads only documents of its own version."""

TrialPart = Literal["outcome", "evaluation", "evidence", "verdict"]
"""`outcome`: the `TrialOutcome`, when the gateway has closed the trial; `evaluation`: made from the trace, with the
screened `evidence` for the judge; `verdict`: the score, with the judgment."""

_VERSION: Final = re.compile(r'\{"version":(\d{1,9}),')
_HEAD: Final = '{"version":%d,"content":'


class ForeignDocumentError(ValueError):
    """A document of another version of the program; the message names the trial and both versions."""


@dataclass(frozen=True, slots=True)
class TrialDocuments:
    """The documents of trials, by the keys of their attempts. All operations raise StorageUnavailableError."""

    assessments: AssessmentStore

    async def part(self, assessment_id: str, key: str, part: TrialPart) -> str | None:
        """A part as JSON, or None. Raises ForeignDocumentError."""
        [found] = await self.parts(assessment_id, [key], part)
        return found

    async def parts(self, assessment_id: str, keys: Sequence[str], part: TrialPart) -> list[str | None]:
        """That part of each trial as JSON, or None. Raises ForeignDocumentError."""
        loaded = await self.assessments.load_all(assessment_id, [_name(key, part) for key in keys])
        pairs = zip(keys, loaded, strict=True)
        return [None if text is None else _content(key, text) for key, text in pairs]

    async def add(
        self, assessment_id: str, key: str, part: TrialPart, content: str, *, instead_of: str | None = None
    ) -> None:
        """Adds a part, as JSON. Changes nothing if there is one already, unless it is `instead_of`."""
        earlier = None if instead_of is None else _document(instead_of)
        await self.assessments.save_once(assessment_id, _name(key, part), _document(content), instead_of=earlier)


def _name(key: str, part: TrialPart) -> str:
    return f"trial:{key}:{part}"


def _document(content: str) -> str:
    return f"{_HEAD % VERSION}{content}}}"


def _content(key: str, text: str) -> str:
    head = _HEAD % VERSION
    if not text.startswith(head):
        found = _VERSION.match(text)
        theirs = "no version" if found is None else f"version {found[1]}"
        raise ForeignDocumentError(f"the document of {key} has {theirs}, and this program reads version {VERSION}")
    return text[len(head) : -1]
