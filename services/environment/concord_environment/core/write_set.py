"""Write sets: the keys written since the last capture, table by table."""


class WriteSet:
    """The write set that several tables share. Each table adds the keys of its writes."""

    def __init__(self) -> None:
        self.count = 0
        """The number of writes so far, repeated writes of one key included."""
        self._keys: dict[str, dict[str, None]] = {}

    def add(self, table: str, key: str) -> None:
        """Adds a key that a table wrote."""
        self.count += 1
        self._keys.setdefault(table, {})[key] = None

    def drain(self) -> dict[str, list[str]]:
        """Returns the keys by table, in the order of their first writing, and empties the write set."""
        drained = {table: list(keys) for table, keys in self._keys.items()}
        self._keys.clear()
        return drained
