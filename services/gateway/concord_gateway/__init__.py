"""The green agent: an A2A server that drives assessments and returns their result rows."""
