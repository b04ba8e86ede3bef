"""HiddenBench (arXiv 2505.11556): hidden profiles in prose. Each seat votes, after a discussion among all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Grade, Group, Neighbours
from concord_published.prose import PublishedFamily, chosen

BENCHMARK: Final = "hiddenbench"


@dataclass(frozen=True)
class HiddenProfile(PublishedFamily):
    """A task: shared information for all seats, and one hidden piece for each, dealt anew by the secret."""

    benchmark: ClassVar[str] = BENCHMARK
    group: ClassVar[Group] = Group.JUDGE

    name: str
    summary: str
    description: str
    shared: tuple[str, ...]
    hidden: tuple[str, ...]
    options: tuple[str, ...]
    right: str

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> "HiddenProfile":
        """The task of an item of the published file. Raises KeyError, ValueError."""
        if item["correct_answer"] not in item["possible_answers"]:
            raise ValueError(f"item {item['id']}: the correct answer is not among the possible ones")
        return cls(
            f"{BENCHMARK}-{item['id']}",
            str(item["name"]),
            str(item["description"]),
            tuple(map(str, item["shared_information"])),
            tuple(map(str, item["hidden_information"])),
            tuple(map(str, item["possible_answers"])),
            str(item["correct_answer"]),
        )

    @property
    def size(self) -> int:  # type: ignore[override]
        """A seat for each hidden piece."""
        return len(self.hidden)

    @property
    def chance(self) -> float:
        """Of a guess among the options. The shared information is made to mislead, so that a silent team has less."""
        return 1 / len(self.options)

    def question(self, seats: Sequence[str]) -> str:
        """The description, and the form of a vote."""
        del seats
        return f"{self.description}\n\nEvery seat answers with its own decision: {', or '.join(self.options)}."

    def briefs(self, draw: Draw, seats: Sequence[str]) -> Mapping[str, str]:
        """The shared information and one hidden piece, in an order that tells nothing, as the benchmark's code does."""
        dealt = zip(seats, draw.shuffled(self.hidden), strict=True)
        return {seat: _facts(draw.shuffled((*self.shared, hidden))) for seat, hidden in dealt}

    def key(self, neighbours: Neighbours) -> JsonValue:
        """The right option, and all of them, by seat."""
        return {seat: {"right": self.right, "options": list(self.options)} for seat in neighbours}

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each seat that votes for the right option. Two options in one answer are none."""
        expected: Mapping[str, Any] = key if isinstance(key, dict) else {}
        votes = {seat: chosen(answers.get(seat), each["options"]) for seat, each in expected.items()}
        parts = {seat: float(votes[seat] == each["right"]) for seat, each in expected.items()}
        return Grade(
            parts, tuple(seat for seat, vote in votes.items() if vote is None and answers.get(seat) is not None)
        )


def _facts(pieces: Sequence[str]) -> str:
    return "\n".join(f"Fact {number}: {piece}" for number, piece in enumerate(pieces, start=1))
