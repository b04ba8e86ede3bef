"""The gates of the families of tasks."""
