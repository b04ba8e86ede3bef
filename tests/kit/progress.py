"""Progress updates that a test can read."""

from concord_gateway.progress import Progress


class RecordedProgress(Progress):
    """Progress that keeps its updates in `messages` instead of sending them."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self._latest = ""

    async def tell(self, text: str) -> None:
        self._latest = text
        self.messages.append(text)
