"""The gate of the scenarios for assistants."""
