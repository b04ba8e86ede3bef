"""Judge together: statements that contradict each other, or mislead, until all are known."""

from typing import Final

from concord_suites.family import TextFamily
from concord_suites.judge.diagnosis import Diagnosis
from concord_suites.judge.hidden_profile import HiddenProfile
from concord_suites.judge.reliability import Reliability
from concord_suites.judge.stale_fact import StaleFact
from concord_suites.judge.suspect_statement import SuspectStatement

FAMILIES: Final[tuple[TextFamily, ...]] = (
    HiddenProfile(),
    Reliability(),
    StaleFact(),
    SuspectStatement(),
    Diagnosis(),
)

__all__ = ["FAMILIES"]
