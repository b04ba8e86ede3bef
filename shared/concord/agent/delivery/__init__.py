"""Delivery of steps to collectors: one thread each, so that a slow collector does not delay the others."""

from concord.agent.delivery.delivery_thread import DeliveryPolicy, DeliveryThread
from concord.agent.delivery.recorded_step import RecordedStep, frozen

__all__ = ["DeliveryPolicy", "DeliveryThread", "RecordedStep", "frozen"]
