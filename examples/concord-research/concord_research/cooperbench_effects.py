"""What the agents of a CooperBench run did to files, and what its graders say of each feature.

Sources: github.com/cooperbench/CooperBench, `src/cooperbench/eval/` (the merge and the tests of each feature), and its
structured messages, of which `CLAIM` and `DONE` name files.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from pydantic import BaseModel, ConfigDict

from concord.trace.effects import Effect, EffectKind, Workspace, content_digest
from concord_evaluator.formats.trace import GradedPart, TraceBuilder
from concord_research.patches import PatchSize, changes_in

MAX_CHANGES: Final = 2000
"""Changes of a patch that become steps."""

_FILES: Final = re.compile(r"^(?:my_)?files: *(.+)$", re.MULTILINE)
_KINDS: Final = {"CLAIM": EffectKind.CLAIMED, "DONE": EffectKind.FINISHED}


class _Verdict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    feature_id: int | str | None = None
    passed: bool | None = None


class _Merge(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    status: str | None = None


class FeatureVerdicts(BaseModel):
    """The parts of `eval.json` on the two features: alone, and in the merged work."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    merge: _Merge | None = None
    feature1: _Verdict | None = None
    feature2: _Verdict | None = None
    feature1_independent: _Verdict | None = None
    feature2_independent: _Verdict | None = None

    def graded_parts(self, agent_of: Mapping[str, str]) -> Iterator[GradedPart]:
        """The features that were graded. `agent_of`: by feature, its agent."""
        pairs = ((self.feature1, self.feature1_independent), (self.feature2, self.feature2_independent))
        merged = None if self.merge is None or self.merge.status is None else self.merge.status != "conflicts"
        for together, alone in pairs:
            agent = None if together is None else agent_of.get(str(together.feature_id))
            if together is not None and together.passed is not None and agent is not None:
                yield GradedPart(
                    name=f"feature {together.feature_id}",
                    agent=agent,
                    passed=together.passed,
                    passed_alone=None if alone is None else alone.passed,
                    merged=merged,
                )


def add_changes(builder: TraceBuilder, prefix: str, agent: str, patch: Iterable[bytes]) -> None:
    """Adds an edit for each change of an agent's patch, at most `MAX_CHANGES`."""
    for number, change in enumerate(islice(changes_in(patch), MAX_CHANGES), 1):
        builder.add_work(f"{prefix}-{number:04}", agent, attributes=change.effect().attributes())


def delivery(file: str, touched: PatchSize, content: str) -> Mapping[str, str]:
    """The attributes of the step that delivers a patch."""
    return Effect(
        kind=EffectKind.DELIVERED,
        artifact=file,
        digest=content_digest(content),
        added=touched.added,
        removed=touched.removed,
        workspace=Workspace.SEPARATE,
    ).attributes()


def files_stated(kind: str | None, message: str) -> Iterator[Effect]:
    """What a structured message says of files: that its sender takes them on, or has finished them."""
    stated = _FILES.search(message)
    if kind in _KINDS and stated is not None:
        for name in dict.fromkeys(each.strip(" `") for each in stated[1].split(",")):
            if name and " " not in name:
                yield Effect(kind=_KINDS[kind], artifact=name, excerpt=message)
