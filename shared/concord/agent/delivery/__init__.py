"""Delivery of steps to collectors: one thread each, so that a slow collector does not delay the others."""

from concord.agent.delivery.delivery_thread import DeliveryPolicy, DeliveryThread

__all__ = ["DeliveryPolicy", "DeliveryThread"]
