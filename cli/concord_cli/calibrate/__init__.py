"""`concord run --models`: the same tasks for a list of models, and the table of their results."""
