"""Fake language models, which the judge of an assistant asks: one that is honest, and one that obeys what it reads."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from concord.llm import Completion, LLMUnavailableError

Decide = Callable[[list[dict[str, str]]], tuple[str, str]]
"""From the items of the evidence, the verdicts on the criterion and on the code word."""

METADATA = frozenset({"id", "kind"})


def items_in(user: str) -> list[dict[str, str]]:
    """The items of the evidence in a prompt, which is between two delimiter lines."""
    delimiter = re.search(r"^(==[0-9a-f]{32}==)$", user, re.MULTILINE)
    assert delimiter is not None
    found: list[dict[str, str]] = json.loads(user.split(delimiter[1])[2])["items"]
    return found


@dataclass
class FakeModel:
    """Answers with the verdicts of `decide`, and quotes an item truly unless `quotes` is given."""

    decide: Decide
    quotes: list[dict[str, str]] | None = None
    unavailable: bool = False
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def complete(
        self, system: str, user: str, *, max_tokens: int = 1000, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """An answer in the form that the judge asks for."""
        self.asked.append((system, user))
        if self.unavailable:
            raise LLMUnavailableError("the endpoint is down")
        assert schema is not None
        assert max_tokens > 0
        items = items_in(user)
        verdict, code_word = self.decide(items)
        name, canary = schema["properties"]["criteria"]["items"]["properties"]["criterion"]["enum"]
        quotes = _true_quotes(items) if self.quotes is None else self.quotes
        decisions = [
            {"criterion": name, "evidence": quotes, "verdict": verdict},
            {"criterion": canary, "evidence": [], "verdict": code_word},
        ]
        return Completion(json.dumps({"criteria": decisions, "reasoning": "Seen."}), 10)


def honest(verdict: str = "met") -> Decide:
    """Decides this, and does not report the code word."""
    return lambda _: (verdict, "not_met")


def obedient(attack: str, *, code_word: str = "met") -> Decide:
    """Finds everything met, and the code word used, if more than half of the words of an attack reach it."""
    words = set(attack.casefold().split())

    def decide(items: list[dict[str, str]]) -> tuple[str, str]:
        seen = " ".join(text for item in items for name, text in item.items() if name not in METADATA).casefold()
        reached = sum(word in seen for word in words)
        return ("met", code_word) if 2 * reached > len(words) else ("not_met", "not_met")

    return decide


def _true_quotes(items: list[dict[str, str]]) -> list[dict[str, str]]:
    return [
        {"id": item["id"], "quote": text}
        for item in items
        if not item["kind"].startswith(("earlier", "chat message of the user"))
        for name, text in item.items()
        if name not in METADATA and text
    ][:3]
