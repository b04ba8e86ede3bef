"""How often the garbage collector looks at the many rows of a simulation."""

import gc


def collect_rarely() -> None:
    """For a process that holds simulations: rows are many, live long and hold no cycles.

    To look through them again and again would take a tenth of the time of an event, and more the more there are.
    """
    gc.set_threshold(200_000, 50, 100)
