"""The chat between the user and the assistant."""
