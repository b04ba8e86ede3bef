"""The commands: their arguments and help. What a command does is in a room of its own, imported when it runs."""
