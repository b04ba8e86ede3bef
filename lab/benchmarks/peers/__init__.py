"""Other programs for the same work, each in an environment of its own, from lock files with hashes."""
