"""Push notifications: a client's webhooks, and the posting of a task's changes to them."""

from concord.a2a.push.notifications import Notifications, Retries
from concord.a2a.push.webhooks import Pin, Webhooks

__all__ = ["Notifications", "Pin", "Retries", "Webhooks"]
