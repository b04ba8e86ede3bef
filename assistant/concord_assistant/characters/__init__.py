"""The people of a scenario: whether, how and when they reply to the assistant."""
