"""The records of an input that cannot be read: told as they come, and counted."""

from collections.abc import Callable

from concord_evaluator.formats import FormatError


class Faults:
    """The faults of one file. The first is held back until anything else is read: a lone one is the file's error."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._held: FormatError | None = None
        self.count = 0

    def note(self, fault: FormatError) -> None:
        """Takes a fault."""
        self.count += 1
        if self.count == 1:
            self._held = fault
        else:
            self.tell_held()
            self._tell(f"left out: {fault}")

    def tell_held(self) -> None:
        """Something else was read as well, so that the first fault is one of a record."""
        if self._held is not None:
            self._tell(f"left out: {self._held}")
            self._held = None

    def as_error(self, file: str) -> FormatError:
        """The error of a file in which nothing but faults was found."""
        return self._held or FormatError(file, None, f"none of its {self.count} records can be read")
