"""The garbage collector's thresholds."""

import gc


def collect_rarely() -> None:
    """Raises the thresholds of the garbage collector, for a process that holds simulations.

    Rows are many and long-lived, and form no cycles. With the default thresholds their traversal takes a tenth of an
    event's time, and more in larger simulations.
    """
    gc.set_threshold(200_000, 50, 100)
