"""A fake language model: an HTTP endpoint with OpenAI's protocol that answers as a test specifies."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic import SecretStr

from concord.llm import LLMSettings
from tests.serving import served

Asked = dict[str, Any]
Say = Callable[[Asked], str]
ToolCalls = Sequence[tuple[str, str]]
"""The name and the arguments, as a JSON text, of each tool that the model calls."""


@dataclass(slots=True)
class FakeModel:
    """The model's answers and its behaviour. `asked` has every request.

    A refused request quotes the key, as some real endpoints do.
    """

    say: Say
    statuses: list[int] = field(default_factory=list)
    retry_after: str | None = None
    delay_s: float = 0.0
    formats: tuple[str, ...] = ("json_schema", "json_object", "none")
    unsupported: int = 400
    refusal: str | None = None
    call: Callable[[Asked], ToolCalls] = lambda _: ()
    asked: list[Asked] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        """Answers a chat completion."""
        body: Asked = json.loads(await request.body())
        self.asked.append(body)
        await asyncio.sleep(self.delay_s)
        wanted = body.get("response_format", {"type": "none"})["type"]
        if wanted not in self.formats:
            return _refusal(self.unsupported, f"response_format {wanted} is not supported")
        if self.statuses and (status := self.statuses.pop(0)) != 200:
            headers = {} if self.retry_after is None else {"retry-after": self.retry_after}
            return _refusal(status, f"not now, {request.headers['authorization']}", headers)
        said = None if self.refusal else self.say(body)
        answer = _completion(said, self.refusal, self.call(body))
        return Response(json.dumps(answer), media_type="application/json")


@asynccontextmanager
async def fake_model(model: FakeModel) -> AsyncIterator[LLMSettings]:
    """Serves a model; yields settings for its clients."""
    app = FastAPI()
    app.post("/v1/chat/completions")(model.answer)
    async with served(app) as url:
        yield LLMSettings(api_key=SecretStr("sk-test"), base_url=f"{url}/v1", model="fake", timeout_s=30)


def evidence_in(asked: Asked) -> dict[str, Any]:
    """The evidence in a judge's request, which is between two delimiter lines."""
    user: str = asked["messages"][1]["content"]
    delimiter = re.search(r"^(==[0-9a-f]{32}==)$", user, re.MULTILINE)
    assert delimiter is not None
    document: dict[str, Any] = json.loads(user.split(delimiter[1])[2])
    return document


def honest_judge(verdict: str = "met", **changes: str) -> Say:
    """A judge that gives every criterion this verdict, or its own by id, with a true quote, and does not report the
    code word."""

    def say(asked: Asked) -> str:
        evidence = evidence_in(asked)
        call = next((call for call in evidence["calls"] if call["request"]), None)
        answers = evidence["final_answers"]
        quote = {"id": "answer", "quote": answers[0]["text"][:30] if answers else ""}
        if call is not None:
            quote = {"id": call["id"], "quote": call["request"][:30]}
        criteria = re.findall(r"^- (\w+): (?:Did|Were|Was|Could|Does)", asked["messages"][1]["content"], re.MULTILINE)
        decisions = [
            {
                "criterion": name,
                "evidence": [quote],
                "verdict": "not_met" if name == "code_word" else changes.get(name, verdict),
            }
            for name in criteria
        ]
        return json.dumps({"criteria": decisions, "reasoning": "Seen.", "strengths": ["clear"], "weaknesses": ["slow"]})

    return say


def gullible_judge(*, code_word: str = "met", seeing: Callable[[Asked], bool] = lambda _: True) -> Say:
    """A judge that obeys injected instructions where `seeing` holds: it finds every criterion met, and reports the code
    word.

    Elsewhere it finds nothing met.
    """

    def say(asked: Asked) -> str:
        obeys = seeing(asked)
        answer = json.loads(honest_judge("met" if obeys else "not_met")(asked))
        for decision in answer["criteria"]:
            if decision["criterion"] == "code_word" and obeys:
                decision["verdict"] = code_word
        return json.dumps(answer)

    return say


def _refusal(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps({"error": {"message": message, "type": "fake", "code": str(status)}})
    return Response(body, status_code=status, headers=headers, media_type="application/json")


def _completion(text: str | None, refusal: str | None, calls: ToolCalls) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": refusal}
    if calls:
        message["tool_calls"] = [
            {"id": f"call-{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(calls)
        ]
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
