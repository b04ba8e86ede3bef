"""What makes a trial happen: a given pattern written down, or a team at work. Each ends in a trace and an outcome."""

from concord_gateway.drivers.driver import Driver, TrialContext
from concord_gateway.drivers.ground_truth import drive_pattern
from concord_gateway.drivers.live import drive_live, outcome_of

__all__ = ["Driver", "TrialContext", "drive_live", "drive_pattern", "outcome_of"]
