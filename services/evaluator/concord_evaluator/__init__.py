"""The evaluator: turns a trace into metrics, findings and a score."""
