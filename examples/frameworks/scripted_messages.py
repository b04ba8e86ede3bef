"""A model endpoint in Anthropic's form that answers from scripts, for Claude's Agent SDK."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from scripted_endpoint import Line, Scripts


@contextmanager
def scripted_messages(scripts: Scripts) -> Iterator[str]:
    """The base URL of an endpoint for `POST /v1/messages`, streamed or not.

    The script is that of the first phrase in the request's system prompt; a model without a line left, such as the one
    that names sessions, says nothing.
    """
    left = {phrase: list(lines) for phrase, lines in scripts.items()}

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told = json.dumps(request.get("system", ""))
            lines = next((lines for phrase, lines in left.items() if phrase in told), [])
            line = lines.pop(0) if lines else ""
            if request.get("stream"):
                self._send("text/event-stream", _streamed(line))
            else:
                self._send("application/json", json.dumps(_HEAD | _said(line) | {"content": [_block(line)]}).encode())

        def _send(self, content_type: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Logs nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


_USAGE = {"input_tokens": 10, "output_tokens": 5}
_HEAD = {"id": "answer", "type": "message", "role": "assistant", "model": "scripted", "usage": _USAGE}


def _block(line: Line) -> dict[str, Any]:
    if isinstance(line, str):
        return {"type": "text", "text": line}
    name, given = line
    return {"type": "tool_use", "id": f"call-{name}", "name": name, "input": dict(given)}


def _said(line: Line) -> dict[str, Any]:
    return {"stop_reason": "end_turn" if isinstance(line, str) else "tool_use", "stop_sequence": None}


def _streamed(line: Line) -> bytes:
    block = _block(line)
    if isinstance(line, str):
        empty, delta = block | {"text": ""}, {"type": "text_delta", "text": line}
    else:
        empty, delta = block | {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": _HEAD | {"content": [], "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": _said(line), "usage": _USAGE},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
