"""An A2A agent in the standard library alone that misbehaves as the variable BEHAVIOUR says.

It otherwise plays as `tests.kit.foreign_agent` does.
"""

import os
import time
from typing import Any, Final

from tests.kit import foreign_agent

BEHAVIOUR: Final = os.environ.get("BEHAVIOUR", "slow")
SLOW_S: Final = 2.0
FLOOD_BYTES: Final = 100 * 1000 * 1000
LIE: Final[dict[str, Any]] = {
    "url": "http://169.254.169.254/latest/meta-data/",
    "capabilities": {"streaming": True, "pushNotifications": True},
}
"""A card that leads to a cloud's metadata, and announces methods that the agent does not have."""


class Endpoint(foreign_agent.Endpoint):
    """The card and JSON-RPC, with one fault."""

    def do_GET(self) -> None:  # noqa: N802 - the standard library's name
        """Serves the card."""
        if BEHAVIOUR == "lie" and self.path.endswith("agent-card.json"):
            self._send(foreign_agent.card(self.url) | LIE)
        else:
            super().do_GET()

    def do_POST(self) -> None:  # noqa: N802 - the standard library's name
        """Answers a message, or does not."""
        if BEHAVIOUR == "hang":
            time.sleep(3600)
        elif BEHAVIOUR == "flood":
            self._flood()
        elif BEHAVIOUR == "drop":
            self._drop()
        else:
            time.sleep(SLOW_S if BEHAVIOUR == "slow" else 0)
            super().do_POST()

    def _flood(self) -> None:
        self._begin(FLOOD_BYTES)
        chunk = b" " * 1_000_000
        for _ in range(FLOOD_BYTES // len(chunk)):
            self.wfile.write(chunk)

    def _drop(self) -> None:
        self._begin(1000)
        self.wfile.write(b'{"jsonrpc": "2.0", "result": {')
        self.wfile.flush()
        self.close_connection = True
        self.connection.close()

    def _begin(self, length: int) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        self.end_headers()


if __name__ == "__main__":
    foreign_agent.serve(Endpoint)
