"""The pass mark, and the thresholds above which a figure is a finding."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

Fraction = Annotated[float, Field(ge=0, le=1)]

PASS_MARK: Final = 0.66
"""The overall score from which on a trial passes, unless the assessment sets `thresholds.pass`."""


class Thresholds(BaseModel):
    """The thresholds above which a figure becomes a finding, and a trial a pass. `healthy_density` is an upper limit.

    Defaults: those of the graph-based coordination benchmark; `pass`: the leaderboard's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True)

    pass_mark: Fraction = Field(PASS_MARK, alias="pass")
    bottleneck: Fraction = 0.5
    over_centralised: Fraction = 0.7
    healthy_density: Fraction = 0.3
    loop: Annotated[int, Field(ge=0)] = 1
    """The number of times that a chain of calls may return to a waiting agent: one question back."""
    error_cascade: Annotated[int, Field(ge=1)] = 1
    """The number of calls that may fail in a row, each nested in the previous one."""
    slow_link: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 10
    """The latency of a link as a multiple of the median of the other links."""
    redundant_question: Annotated[int, Field(ge=1)] = 1
    """The number of times that an agent may repeat a request to another agent."""
