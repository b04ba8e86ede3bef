"""API keys, their permissions, and the log of calls."""
