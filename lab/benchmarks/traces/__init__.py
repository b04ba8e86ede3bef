"""Traces: taking them in (collector) and reading them out (evaluator, `concord evaluate`, view, compare)."""
