"""A model endpoint in Anthropic's form that answers from scripts, for Claude's Agent SDK."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scripted_endpoint import Endpoint, Line, Scripts, served


@contextmanager
def scripted_messages(scripts: Scripts) -> Iterator[str]:
    """The base URL of an endpoint for `POST /v1/messages`, streamed or not.

    The script is that of the first phrase in the request's system prompt; a model without a line left, such as the one
    that names sessions, says nothing.
    """
    left = {phrase: list(lines) for phrase, lines in scripts.items()}

    class Messages(Endpoint):
        def do_POST(self) -> None:  # noqa: N802 - as http.server names it
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told = json.dumps(request.get("system", ""))
            lines = next((lines for phrase, lines in left.items() if phrase in told), [])
            line = lines.pop(0) if lines else ""
            if request.get("stream"):
                self.send(200, "text/event-stream", _streamed(line))
            else:
                whole = _HEAD | _said(line) | {"content": [_block(line)]}
                self.send(200, "application/json", json.dumps(whole).encode())

    with served(Messages) as url:
        yield url


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
