"""Where the user is, and was."""
