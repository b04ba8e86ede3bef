"""A turn of an assessment: the actions that the assistant took, and the messages that became new."""
