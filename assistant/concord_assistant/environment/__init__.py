"""The environment of an assessment: its process, its scenario, and the assistant's permissions in it."""
