"""The gate of the causes that are named in own tasks."""
