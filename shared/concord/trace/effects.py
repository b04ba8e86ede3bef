"""Effects: what a step did to an artifact, such as a file, as attributes of the step.

An effect can be checked: the artifact, the lines and a digest of the change say more than what an agent claims of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import Final, NamedTuple

from concord.trace.step import MAX_VALUE_LENGTH

PREFIX: Final = "effect."
"""How the names of the attributes begin. Attributes of spans have `concord.` before it."""

MAX_EXCERPT: Final = 8000
"""Characters of a change that its effect quotes."""

KIND: Final = f"{PREFIX}kind"
_ARTIFACT: Final = f"{PREFIX}artifact"
_LINES: Final = f"{PREFIX}lines"
_DIGEST: Final = f"{PREFIX}digest"
_ADDED: Final = f"{PREFIX}lines_added"
_REMOVED: Final = f"{PREFIX}lines_removed"
_PASSED: Final = f"{PREFIX}passed"
_WORKSPACE: Final = f"{PREFIX}workspace"
EXCERPT: Final = f"{PREFIX}excerpt"

ATTRIBUTES: Final = frozenset(
    {KIND, _ARTIFACT, _LINES, _DIGEST, _ADDED, _REMOVED, _PASSED, _WORKSPACE, EXCERPT},
)
"""The names of all attributes of effects."""


class EffectKind(StrEnum):
    """What happened to the artifact.

    An agent *claims* it as its work, *edits* it, says that it has *finished* it, *delivers* it as a result, or *checks*
    it (a run of tests, for example).
    """

    CLAIMED = "claimed"
    EDITED = "edited"
    FINISHED = "finished"
    DELIVERED = "delivered"
    CHECKED = "checked"


class Workspace(StrEnum):
    """Where an agent edits: in a copy of its own, to be merged later, or in the files that all agents share.

    Two different edits of the same lines clash in separate copies. In shared files, the later one builds on the other.
    """

    SEPARATE = "separate"
    SHARED = "shared"


class Lines(NamedTuple):
    """A range of lines in the artifact as the agent found it, as in a hunk's header of a unified diff without context.

    `start`: the first line, from 1. `length`: 0 for an insertion before that line.
    """

    start: int
    length: int

    def touches(self, other: "Lines") -> bool:
        """Whether the ranges overlap or adjoin, in which case `git merge` reports a conflict."""
        return self.start <= other.start + other.length and other.start <= self.start + self.length


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect. `digest`: of the artifact's or the change's content after it. `passed`: of a check.

    `added`, `removed`: lines. `excerpt`: the beginning of the change (lines with `+` and `-`) or of a check's output.
    Unknown facts are None or empty.
    """

    kind: EffectKind
    artifact: str
    lines: Lines | None = None
    digest: str = ""
    added: int | None = None
    removed: int | None = None
    passed: bool | None = None
    workspace: Workspace | None = None
    excerpt: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it is known to have changed nothing."""
        return self.added == 0 and self.removed == 0

    def attributes(self) -> dict[str, str]:
        """The attributes of a step with this effect."""
        lines = None if self.lines is None else f"{self.lines.start},{self.lines.length}"
        written = {
            KIND: self.kind.value,
            _ARTIFACT: self.artifact[:MAX_VALUE_LENGTH],
            _LINES: lines,
            _DIGEST: self.digest or None,
            _ADDED: None if self.added is None else str(self.added),
            _REMOVED: None if self.removed is None else str(self.removed),
            _PASSED: None if self.passed is None else str(self.passed).lower(),
            _WORKSPACE: None if self.workspace is None else self.workspace.value,
            EXCERPT: self.excerpt[:MAX_EXCERPT] or None,
        }
        return {name: value for name, value in written.items() if value is not None}


def effect_of(attributes: Mapping[str, str]) -> Effect | None:
    """The effect in the attributes of a step; None without a known kind. A malformed fact counts as unknown."""
    kind = attributes.get(KIND)
    if kind is None or kind not in _KINDS:
        return None
    workspace = attributes.get(_WORKSPACE, "")
    return Effect(
        kind=EffectKind(kind),
        artifact=attributes.get(_ARTIFACT, ""),
        lines=_lines(attributes.get(_LINES, "")),
        digest=attributes.get(_DIGEST, ""),
        added=_count(attributes.get(_ADDED, "")),
        removed=_count(attributes.get(_REMOVED, "")),
        passed={"true": True, "false": False}.get(attributes.get(_PASSED, "").lower()),
        workspace=Workspace(workspace) if workspace in _WORKSPACES else None,
        excerpt=attributes.get(EXCERPT, ""),
    )


def content_digest(content: str) -> str:
    """A digest of an artifact's content, or of a change."""
    return blake2b(content.encode(errors="replace"), digest_size=16).hexdigest()


_KINDS: Final = frozenset(EffectKind)
_WORKSPACES: Final = frozenset(Workspace)
_MAX_DIGITS: Final = 12


def _count(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else None


def _lines(text: str) -> Lines | None:
    start, length = map(_count, text.split(",")) if text.count(",") == 1 else (None, None)
    return None if start is None or length is None else Lines(start, length)
