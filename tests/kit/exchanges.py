"""Exchanges with an OpenAI-compatible endpoint: a proxy that records them, and an endpoint that replays a record."""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from fastapi import FastAPI, Request, Response

CHAT: Final = "/v1/chat/completions"

TIME_LIMIT_S: Final = 600

LONGEST_ANSWER: Final = 300
"""Tokens that the model may write. It seldom ends a text in a given form by itself, and a judge may write 2,200."""

LEFT: Final = 499
"""The status of a request whose client left before the answer."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, as the digest of what decides its answer, and the answer as the endpoint sent it."""

    digest: str
    status: int
    answer: Any

    @property
    def text(self) -> str | None:
        """What the model wrote; None for a refused request."""
        choices = self.answer.get("choices") if isinstance(self.answer, dict) else None
        return choices[0]["message"].get("content") if choices else None

    @property
    def tokens(self) -> int:
        """The tokens that were used."""
        return int(self.answer.get("usage", {}).get("total_tokens", 0)) if self.status == httpx.codes.OK else 0

    def line(self) -> str:
        """A line of a record."""
        return json.dumps({"digest": self.digest, "status": self.status, "answer": self.answer}, ensure_ascii=False)


def digest_of(asked: Any) -> str:  # noqa: ANN401 - JSON
    """Identifies a request by its messages, the form that it asks for, and its tools."""
    decisive = {name: asked.get(name) for name in ("messages", "response_format", "tools", "max_tokens")}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def read_exchanges(path: Path) -> list[Exchange]:
    """The exchanges of a record."""
    return [Exchange(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


@dataclass(slots=True)
class Recorder:
    """Passes requests on to an endpoint, for answers of limited length, and keeps the exchanges."""

    upstream: str
    kept: list[Exchange] = field(default_factory=list)

    def app(self) -> FastAPI:
        """The proxy as an ASGI app."""
        app = FastAPI()
        app.post(CHAT)(self._pass_on)
        return app

    async def _pass_on(self, request: Request) -> Response:
        asked = await request.json()
        digest = digest_of(asked)
        asked["max_tokens"] = min(LONGEST_ANSWER, asked.get("max_tokens") or LONGEST_ANSWER)
        asking = asyncio.create_task(_asked(f"{self.upstream}{CHAT}", asked))
        leaving = asyncio.ensure_future(_left(request))
        await asyncio.wait((asking, leaving), return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        if not asking.done():
            asking.cancel()  # so that the model goes on with what somebody waits for
            self.kept.append(Exchange(digest, LEFT, {}))
            return Response(status_code=LEFT)
        answer = asking.result()
        said = answer.json() if answer.is_success else answer.text
        self.kept.append(Exchange(digest, answer.status_code, said))
        return Response(answer.content, answer.status_code, media_type="application/json")


async def _left(request: Request) -> None:
    """Waits until the client leaves: after the body, nothing else is received."""
    await request.receive()


async def _asked(url: str, asked: dict[str, Any]) -> httpx.Response:
    async with httpx.AsyncClient(timeout=TIME_LIMIT_S) as http:
        return await http.post(url, json=asked)


def replaying(exchanges: Iterable[Exchange]) -> FastAPI:
    """An endpoint that gives the recorded answers in their order, and 404 for a request that was not recorded."""
    recorded: dict[str, list[Exchange]] = {}
    for each in exchanges:
        recorded.setdefault(each.digest, []).append(each)
    app = FastAPI()

    @app.post(CHAT)
    async def answer(request: Request) -> Response:
        found: Sequence[Exchange] = recorded.get(digest_of(json.loads(await request.body())), ())
        if not found:
            return Response('{"error": {"message": "not recorded"}}', 404, media_type="application/json")
        each = found[0] if len(found) == 1 else recorded[found[0].digest].pop(0)
        return Response(json.dumps(each.answer), each.status, media_type="application/json")

    return app
