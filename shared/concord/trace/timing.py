"""The timing of steps: the wall clock says when a step began, the monotonic clock how long it took."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypedDict


class StepTimes(TypedDict):
    """The fields of an `InteractionStep` that tell its time; `latency` in milliseconds."""

    latency: int
    start_time: datetime
    end_time: datetime


@dataclass(slots=True)
class StepClock:
    """The clock of one step, which starts when it is created."""

    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    _started: float = field(default_factory=time.monotonic)
    _stopped: float | None = None

    @property
    def elapsed_s(self) -> float:
        """The time from the start until now, or until the clock was stopped (seconds)."""
        return (time.monotonic() if self._stopped is None else self._stopped) - self._started

    def stop(self) -> None:
        """Stops the clock."""
        self._stopped = time.monotonic()

    def times(self) -> StepTimes:
        """The step's times, up to now or to when the clock was stopped."""
        elapsed_s = self.elapsed_s
        return StepTimes(
            latency=round(elapsed_s * 1000),
            start_time=self.started_at,
            end_time=self.started_at + timedelta(seconds=elapsed_s),
        )
