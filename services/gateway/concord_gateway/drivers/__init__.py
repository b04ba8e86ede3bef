"""Drivers: each runs a trial, by writing down a given pattern or by giving a team its task."""

from concord_gateway.drivers.calls import drive_calls
from concord_gateway.drivers.driver import Driver, TrialContext, TrialNotRunError
from concord_gateway.drivers.ground_truth import drive_pattern
from concord_gateway.drivers.live import drive_live, outcome_of, unanswered
from concord_gateway.drivers.rounds import drive_rounds

__all__ = [
    "Driver",
    "TrialContext",
    "TrialNotRunError",
    "drive_calls",
    "drive_live",
    "drive_pattern",
    "drive_rounds",
    "outcome_of",
    "unanswered",
]
