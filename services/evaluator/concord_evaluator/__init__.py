"""The evaluator: computes metrics, findings and a score from a trace."""
