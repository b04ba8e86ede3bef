"""An A2A 0.3 agent in the standard library alone: `foreign_agent.py --host H --port P --card-url URL`.

It takes seats in rounds: it tells everybody the numbers in its brief, and answers with the highest number that it read.
"""

import argparse
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def card(url: str) -> dict[str, Any]:
    """The agent's card."""
    skill = {"id": "highest", "name": "Highest", "description": "Finds the highest number.", "tags": ["sample"]}
    modes = {"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"]}
    about = {"name": "foreign", "description": "Finds the highest number.", "version": "1"}
    wire = {"protocolVersion": "0.3.0", "url": url, "preferredTransport": "JSONRPC", "capabilities": {}}
    return {**about, **wire, **modes, "skills": [skill]}


def reply(text: str) -> str:
    """The reply to a message of a round."""
    brief = text.partition("What only you know:\n")[2].partition("\n\n")[0]
    if "This is round 1 " in text:
        return json.dumps({"messages": [{"to": "all", "text": f"I know {brief}"}], "answer": None})
    earlier = text.partition("You may write to:")[2].partition("Reply with one JSON object")[0]
    return json.dumps({"messages": [], "answer": max(numbers(brief + earlier), default=None)})


def numbers(text: str) -> list[int]:
    """The numbers of five digits in a text."""
    return [int(found.replace(",", "")) for found in re.findall(r"\d\d,?\d{3}(?!\d)", text)]


class Endpoint(BaseHTTPRequestHandler):
    """The card and JSON-RPC `message/send`."""

    url = ""

    def do_GET(self) -> None:
        """Serves the card."""
        if self.path == "/.well-known/agent-card.json":
            self._send(card(self.url))
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        """Answers a message with a message."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        sent = request["params"]["message"]
        text = "\n".join(part.get("text", "") for part in sent["parts"])
        answer = {
            "kind": "message",
            "messageId": f"re-{sent['messageId']}",
            "role": "agent",
            "parts": [{"kind": "text", "text": reply(text)}],
        }
        self._send({"jsonrpc": "2.0", "id": request["id"], "result": answer})

    def _send(self, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serve(endpoint: type[Endpoint]) -> None:
    """Reads the arguments, and serves until stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9009)
    parser.add_argument("--card-url", required=True)
    arguments = parser.parse_args()
    endpoint.url = arguments.card_url
    ThreadingHTTPServer((arguments.host, arguments.port), endpoint).serve_forever()


if __name__ == "__main__":
    serve(Endpoint)
