"""Text as an evaluator of tier 3 (redundancy, drift from the task, answer overlap), and a scorer of phrases."""
