"""The worker: the evaluator's jobs over storage, and the functions that they compute with in a process pool."""
