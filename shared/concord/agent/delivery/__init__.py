"""Delivery of steps to collectors: one lane each, so that a slow collector does not delay the others."""

from concord.agent.delivery.lane import Lane, LanePolicy

__all__ = ["Lane", "LanePolicy"]
