"""Delivery: how reported steps come to a collector. One lane for each, so that none holds up another."""

from concord.agent.delivery.lane import Lane, LanePolicy

__all__ = ["Lane", "LanePolicy"]
