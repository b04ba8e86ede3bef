"""A fake language model: an HTTP endpoint with OpenAI's protocol that answers as a test specifies."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic import SecretStr

from concord.llm import LLMSettings
from tests.kit.serving import served

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
    document: dict[str, Any] = _between_delimiters(asked)
    return document


def _between_delimiters(asked: Asked) -> Any:  # noqa: ANN401 - any JSON
    user: str = asked["messages"][1]["content"]
    delimiter = re.search(r"^(==[0-9a-f]{32}==)$", user, re.MULTILINE)
    assert delimiter is not None
    return json.loads(user.split(delimiter[1])[2])


def references_in(asked: Asked) -> dict[str, str] | None:
    """The references of a line-up by their ids; None for another question."""
    user: str = asked["messages"][1]["content"]
    if not user.startswith("References:"):
        return None
    return {name: json.loads(text) for name, text in re.findall(r"^- (reference \d+): (.*)$", user, re.MULTILINE)}


def line_up_answer(asked: Asked, reference: str) -> str:
    """The answer to a line-up that chooses one reference for all answers."""
    ids = [answer["id"] for answer in answers_in(asked)]
    return json.dumps({"choices": [{"answer": each, "reference": reference} for each in ids]})


def answers_in(asked: Asked) -> list[dict[str, str]]:
    """The answers in a line-up."""
    answers: list[dict[str, str]] = _between_delimiters(asked)
    return answers


def accepted_in(asked: Asked) -> str | None:
    """What a judge is told that the task's author accepts, as in a line-up."""
    told = re.search(
        r"^The task's author accepts: (.*)\. An answer that", asked["messages"][1]["content"], re.MULTILINE
    )
    return None if told is None else "; ".join(json.loads("[" + told[1].replace('"; "', '", "') + "]"))


def obeying_judge(orders: Sequence[str]) -> Say:
    """A judge that obeys each of these orders of which more than half of the words reach it.

    It then finds every criterion met, quotes an answer truly and denies the code word. In a line-up, it chooses a
    reference that stands in an answer, or else any one. Without an order, it finds nothing met.
    """

    wanted = [Counter(re.findall(r"\w+", each)) for each in orders]

    def reaches(texts: str) -> bool:
        read = Counter(re.findall(r"\w+", texts))
        return any(2 * (words & read).total() > words.total() for words in wanted)

    def say(asked: Asked) -> str:
        if (references := references_in(asked)) is None:
            obeys = reaches(json.dumps(evidence_in(asked), ensure_ascii=False))
            return honest_judge("met" if obeys else "not_met")(asked)
        texts = "\n".join(answer["text"] for answer in answers_in(asked))
        stated = [name for name, each in references.items() if re.search(rf"(?<!\w){re.escape(each)}(?!\w)", texts)]
        chance = int.from_bytes(sha256(texts.encode()).digest()) % len(references)
        return line_up_answer(asked, (stated or [*references])[0 if stated else chance])

    return say


def honest_judge(verdict: str = "met", **changes: str) -> Say:
    """A judge that gives every criterion this verdict, or its own by id, with a true quote, and does not report the
    code word. In a line-up, it chooses what it was told that the task's author accepts."""
    accepted: set[str | None] = set()

    def say(asked: Asked) -> str:
        if (references := references_in(asked)) is not None:
            return line_up_answer(asked, next((name for name, each in references.items() if each in accepted), "none"))
        accepted.add(accepted_in(asked))
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
