"""Judge together: statements that contradict each other, or mislead, until all are known."""
