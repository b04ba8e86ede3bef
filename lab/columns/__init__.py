"""The record-based evaluation of a trace, step by step in plain Python: the columns have to agree with it."""
