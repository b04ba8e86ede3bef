"""A row as text on the terminal."""
