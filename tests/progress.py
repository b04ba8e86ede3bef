"""Progress for tests: kept instead of sent."""

from concord_gateway.progress import Progress


class Unheard(Progress):
    """Progress that nobody listens to; `told` is all of it."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._latest = ""

    async def tell(self, text: str) -> None:
        self._latest = text
        self.told.append(text)
