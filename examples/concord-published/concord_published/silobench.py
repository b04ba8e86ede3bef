"""Silo-Bench (arXiv 2603.01045): an algorithm over data that is split among the seats. A file has one instance."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any, ClassVar, Final

from pydantic import JsonValue

from concord.json_text import NoJsonError, json_in
from concord.suite import Answers, Draw, Grade, Group, Neighbours
from concord_published.prose import PublishedFamily

BENCHMARK: Final = "silo-bench"

_PROTOCOL: Final = re.compile(
    r"[ \t]*\*\*Communication Protocol:?\*\*.*?(?=\n[ \t]*\*\*|\Z)", re.DOTALL | re.IGNORECASE
)
"""The section that prescribes who should send what to whom: the exchange that is measured."""


@dataclass(frozen=True)
class SiloTask(PublishedFamily):
    """An instance: a shard of the input for each seat, and the output that each has to state."""

    benchmark: ClassVar[str] = BENCHMARK
    group: ClassVar[Group] = Group.POOL

    name: str
    summary: str
    description: str
    shards: tuple[str, ...]
    outputs: tuple[str, ...]
    """As JSON, which can be compared and hashed."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "SiloTask":
        """The task of a file. Raises KeyError, ValueError."""
        configs = document["agent_configs"]
        common = document.get("expected_output")
        outputs = [config.get("expected_output", common) for config in configs]
        if len(configs) < 2 or any(output is None for output in outputs):
            raise ValueError(f"{document['case_id']}: fewer than two agents, or no expected output")
        return cls(
            f"{BENCHMARK}-{document['case_id']}-n{len(configs)}",
            str(document.get("case_name", document["case_id"])),
            _PROTOCOL.sub("", str(document["task_description"])).strip(),
            tuple(json.dumps(config["input_shard"], ensure_ascii=False) for config in configs),
            tuple(json.dumps(output, ensure_ascii=False) for output in outputs),
        )

    @property
    def size(self) -> int:  # type: ignore[override]
        """A seat for each shard."""
        return len(self.shards)

    @property
    def chance(self) -> float:
        """The benchmark states none."""
        return 0.0

    def question(self, seats: Sequence[str]) -> str:
        """The task's statement, without the part that gives the exchange away, and the seats in the order of shards."""
        order = ", ".join(f"{seat} has shard {number}" for number, seat in enumerate(seats, start=1))
        return (
            f"{self.description}\n\n{order}. Every seat answers with the output that the task asks of it, as JSON: a "
            "number, a text, a list or an object."
        )

    def briefs(self, draw: Draw, seats: Sequence[str]) -> Mapping[str, str]:
        """The shards, in their order."""
        del draw
        return {seat: f"Your shard of the input:\n{shard}" for seat, shard in zip(seats, self.shards, strict=True)}

    def key(self, neighbours: Neighbours) -> JsonValue:
        """The expected output of each seat."""
        return {seat: json.loads(output) for seat, output in zip(neighbours, self.outputs, strict=True)}

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each seat whose answer equals its output: numbers within 1e-6, lists and objects by their parts."""
        expected: Mapping[str, JsonValue] = key if isinstance(key, dict) else {}
        return Grade({seat: float(_equal(_value(answers.get(seat)), each)) for seat, each in expected.items()})


def _value(answer: JsonValue) -> JsonValue:
    if not isinstance(answer, str):
        return answer
    try:
        return json_in(answer)
    except NoJsonError:
        return answer.strip()


def _equal(answer: JsonValue, expected: JsonValue) -> bool:
    if isinstance(expected, bool) or isinstance(answer, bool):
        return answer is expected
    if isinstance(expected, int | float) and isinstance(answer, int | float):
        return isclose(answer, expected, rel_tol=1e-6, abs_tol=1e-6)
    if isinstance(expected, list) and isinstance(answer, list):
        return len(answer) == len(expected) and all(map(_equal, answer, expected))
    if isinstance(expected, dict) and isinstance(answer, dict):
        return answer.keys() == expected.keys() and all(_equal(answer[name], expected[name]) for name in expected)
    return type(answer) is type(expected) and answer == expected
