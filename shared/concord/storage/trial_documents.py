"""The document of a trial: one part by each stage, saved once, under the version of the program that began it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from concord.storage import AssessmentStore

VERSION: Final = 2
"""Changes whenever the content of a part does. A program reads only documents of its own version."""

TrialPart = Literal["outcome", "evaluation", "evidence", "verdict"]
"""`outcome`: the `TrialOutcome`, when the gateway has closed the trial; `evaluation`: made from the trace, with the
screened `evidence` for the judge; `verdict`: the score, with the judgment."""

_PARTS: Final[tuple[TrialPart, ...]] = get_args(TrialPart)

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

    async def document(self, assessment_id: str, key: str) -> "TrialDocument":
        """All parts of a trial, in one round trip."""
        loaded = await self.assessments.load_all(assessment_id, [_name(key, part) for part in _PARTS])
        stored = {part: text for part, text in zip(_PARTS, loaded, strict=True) if text is not None}
        return TrialDocument(self.assessments, assessment_id, key, stored)

    async def add(
        self, assessment_id: str, key: str, part: TrialPart, content: str, *, instead_of: str | None = None
    ) -> None:
        """Adds a part, as JSON. Changes nothing if there is one already, unless it is `instead_of`."""
        await TrialDocument(self.assessments, assessment_id, key, {}).add(part, content, instead_of=instead_of)


@dataclass(frozen=True, slots=True)
class TrialDocument:
    """The document of one trial as it was read, with the parts that were added since."""

    assessments: AssessmentStore
    assessment_id: str
    key: str
    _stored: dict[TrialPart, str]

    def part(self, part: TrialPart) -> str | None:
        """A part as JSON, or None. Raises ForeignDocumentError."""
        stored = self._stored.get(part)
        return None if stored is None else _content(self.key, stored)

    async def add(self, part: TrialPart, content: str, *, instead_of: str | None = None) -> None:
        """Adds a part, as JSON. Where somebody else has added it since, that one stays, unless it is `instead_of`.

        Raises StorageUnavailableError.
        """
        earlier = None if instead_of is None else _document(instead_of)
        self._stored[part] = await self.assessments.save_once(
            self.assessment_id, _name(self.key, part), _document(content), instead_of=earlier
        )


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
