"""A trace: its steps, the reports that tell of them, their digests and how they are read from the wire."""
