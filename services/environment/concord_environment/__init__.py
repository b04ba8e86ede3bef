"""The environment service: a simulated user with mail, messages, a calendar and a chat, in simulated time."""

__version__ = "0.1.0"
