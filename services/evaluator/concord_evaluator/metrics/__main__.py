"""`python -m concord_evaluator.metrics`: prints the table of all installed metrics that `docs/metrics.md` shows."""

from concord_evaluator.metrics.registry import as_table

if __name__ == "__main__":
    print("\n".join(as_table()))  # noqa: T201 - the command's answer
