"""The environment service: a simulated user with mail, messages, a calendar and a chat, in simulated time."""
