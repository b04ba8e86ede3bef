"""Scripted teams that play the families of tasks, the faults planted in them, and measures of what they reach."""
