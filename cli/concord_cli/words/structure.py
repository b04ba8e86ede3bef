"""What structure does not tell, said wherever it is shown, and how coordination is named."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from concord.assessment.results import MetricStatus, Quality

STRUCTURE_AND_SUCCESS: Final = (
    "Structure does not predict success. On 527 CooperBench runs, within task and arm, version 1's structural score "
    "told success from failure with an AUC of .56 (95 %: .52 to .62), .49 on runs with messages; on 541 LLM-teams runs "
    ".51; .42 to .49 on three MARBLE sets (.5 is chance)."
)
"""How well the score of version 1, made of structure, tells a run that succeeded from one that failed.

AUC: how often, of a success and a failure, the success has the higher score. The runs are public; their benchmarks
say which of them succeeded.
"""

MORE_ON_STRUCTURE: Final = "docs/scoring.md"


_WITHOUT_LABEL: Final[Mapping[MetricStatus, str]] = MappingProxyType(
    {MetricStatus.UNDEFINED: "not seen", MetricStatus.NOT_APPLICABLE: "one participant"}
)


def coordination(quality: Quality | None, status: MetricStatus) -> str | None:
    """The label of coordination, or why there is none; None where the row does not say why."""
    return quality or _WITHOUT_LABEL.get(status)
