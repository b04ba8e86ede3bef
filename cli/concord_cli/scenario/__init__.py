"""Scenarios: the files of teams (`team`), and those of assistants, which can be played (`assistant`, `play`)."""
