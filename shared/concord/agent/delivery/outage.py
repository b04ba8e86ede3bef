"""Logging of collector outages: few lines, however many steps are affected."""

import logging
import time
from collections.abc import Callable

from concord.wire.roster import normalise_url

logger = logging.getLogger(__name__)


class Outage:
    """Logs when a collector becomes unavailable and when it is back, and at most every `every_s` seconds in between."""

    def __init__(self, url: str, every_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self._address = normalise_url(url)
        self._every_s = every_s
        self._now = now
        self._told_at: float | None = None
        self._is_told = False
        self._dropped_before = 0
        """When the collector last answered."""
        self._refused = 0
        self._told_refusal_at: float | None = None

    def failed(self, reason: str, waiting: int, dropped: int) -> None:
        """Records a failed attempt. `waiting` steps are kept for a retry; `dropped` counts all dropped steps."""
        if self._is_due(self._told_at):
            accepts = "still accepts" if self._is_told else "accepts"
            self._told_at, self._is_told = self._now(), True
            lost = dropped - self._dropped_before
            logger.warning(
                "the collector at %s %s no steps: %s; %d steps waiting, %d dropped",
                self._address, accepts, reason, waiting, lost,
            )  # fmt: skip

    def answered(self, waiting: int, dropped: int) -> None:
        """Records an answer, positive or negative."""
        if self._is_told:
            lost = dropped - self._dropped_before
            logger.warning(
                "the collector at %s accepts steps again; %d steps waiting, %d dropped", self._address, waiting, lost
            )
        self._is_told, self._dropped_before = False, dropped

    def refused(self, reason: str, steps: int) -> None:
        """Records that a batch of so many steps was refused for good."""
        self._refused += steps
        if self._is_due(self._told_refusal_at):
            self._told_refusal_at = self._now()
            logger.warning("the collector at %s refused %d steps: %s", self._address, self._refused, reason)
            self._refused = 0

    def ended(self, unreported: int) -> None:
        """Records the end, with so many dropped steps unreported."""
        logger.warning("dropped %d steps, which the collector at %s does not know of", unreported, self._address)

    def _is_due(self, told_at: float | None) -> bool:
        return told_at is None or self._now() - told_at >= self._every_s
