"""A model endpoint in OpenAI's form that answers from scripts, for frameworks whose models are awkward to replace."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Line = str | tuple[str, Mapping[str, Any]]
"""What a model says: a text, or the name and the arguments of a tool."""

Scripts = Mapping[str, Sequence[Line]]
"""By a phrase of an agent's instructions, the lines that its model says one after the other."""


class Endpoint(BaseHTTPRequestHandler):
    """Sends answers, and logs nothing."""

    def send(self, status: int, content_type: str, body: bytes) -> None:
        """Sends an answer."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""


@contextmanager
def served(endpoint: type[Endpoint]) -> Iterator[str]:
    """The URL of a server of an endpoint, on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@contextmanager
def scripted_endpoint(scripts: Scripts) -> Iterator[str]:
    """The base URL of an endpoint for `POST …/chat/completions`, streamed or not.

    The script is that of the first phrase in the request's messages; a model without a line left fails with status 400.
    """
    left = {phrase: list(lines) for phrase, lines in scripts.items()}

    class Completions(Endpoint):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told = json.dumps(request["messages"])
            lines = next((lines for phrase, lines in left.items() if phrase in told), [])
            if not lines:
                self.send(400, "application/json", b'{"error": {"message": "The script is over."}}')
            elif request.get("stream"):
                self.send(200, "text/event-stream", _streamed(lines.pop(0)))
            else:
                self.send(200, "application/json", json.dumps(_whole(lines.pop(0))).encode())

    with served(Completions) as url:
        yield f"{url}/v1"


_HEAD = {"id": "answer", "created": 0, "model": "scripted"}
_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _message(line: Line) -> dict[str, Any]:
    if isinstance(line, str):
        return {"role": "assistant", "content": line}
    name, given = line
    call = {"index": 0, "id": f"call-{name}", "type": "function"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [call | {"function": {"name": name, "arguments": json.dumps(given)}}],
    }


def _reason(line: Line) -> str:
    return "stop" if isinstance(line, str) else "tool_calls"


def _whole(line: Line) -> dict[str, Any]:
    choice = {"index": 0, "message": _message(line), "finish_reason": _reason(line)}
    return _HEAD | {"object": "chat.completion", "choices": [choice], "usage": _USAGE}


def _streamed(line: Line) -> bytes:
    chunk = _HEAD | {"object": "chat.completion.chunk"}
    said = chunk | {"choices": [{"index": 0, "delta": _message(line), "finish_reason": None}]}
    over = chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": _reason(line)}]}
    used = chunk | {"choices": [], "usage": _USAGE}
    events = [json.dumps(each) for each in (said, over, used)]
    return "".join(f"data: {event}\n\n" for event in (*events, "[DONE]")).encode()
