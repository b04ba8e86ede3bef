"""What was touched: the keys that were written since somebody last took note, table by table."""


class Touched:
    """Tables share one; each notes the keys of its writes in it."""

    def __init__(self) -> None:
        self.count = 0
        """Goes up with every write, also of a key that is noted already."""
        self._keys: dict[str, dict[str, None]] = {}

    def note(self, table: str, key: str) -> None:
        """Notes that a key of a table was written."""
        self.count += 1
        self._keys.setdefault(table, {})[key] = None

    def take(self) -> dict[str, list[str]]:
        """The keys that were noted, by table, in the order of their first writing; from here on there are none."""
        taken = {table: list(keys) for table, keys in self._keys.items()}
        self._keys.clear()
        return taken
