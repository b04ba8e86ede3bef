"""The garbage collector's thresholds."""

import gc


def raise_gc_thresholds() -> None:
    """Raises the thresholds of the garbage collector, for a process that holds simulations.

    A simulation has many long-lived rows without cycles. With the default thresholds, the collector's traversal of the
    rows takes a tenth of an event's time, and more in larger simulations.
    """
    gc.set_threshold(200_000, 50, 100)
