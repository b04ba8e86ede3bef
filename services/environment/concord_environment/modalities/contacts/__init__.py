"""The address book: who people are, and who is blocked."""
