"""Text as an evaluator of tier 3: redundancy, drift from the task, and answer overlap."""
