"""Families whose answers count only if more than half of the seats give the same right one."""

from abc import abstractmethod
from collections import Counter

from pydantic import JsonValue

from concord.suite import Answers, Grade
from concord_suites.answers import read_each
from concord_suites.family import Setting, TextFamily


class MajorityFamily(TextFamily):
    """Every seat answers; a part is 1 if its seat gives a right answer that more than half of all seats give.

    A seat that knows a right answer by itself therefore gains nothing by stating it alone.
    """

    @abstractmethod
    def options(self, setting: Setting) -> list[str]:
        """All values that some seat proposes, right or wrong, sorted."""

    @abstractmethod
    def right(self, setting: Setting) -> list[str]:
        """The right ones among the options, sorted."""

    @abstractmethod
    def read_answer(self, answer: JsonValue, options: tuple[str, ...]) -> str:
        """The value that an answer names. Raises UnreadableError."""

    def solve(self, setting: Setting) -> Answers:
        """The first right value, from every seat."""
        return dict.fromkeys(setting.answerers, self.right(setting)[0])

    def key(self, setting: Setting) -> JsonValue:
        """The seats, all options, and the right ones."""
        return {
            "seats": list(setting.answerers),
            "options": list(self.options(setting)),
            "right": list(self.right(setting)),
        }

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each seat whose answer is right and is given by more than half of the seats, else 0."""
        seats, options, right = _lists(key)
        named, unreadable = read_each(answers, seats, lambda answer: self.read_answer(answer, options))
        counts = Counter(named.values())
        agreed = {value for value in right if 2 * counts[value] > len(seats)}
        return Grade({seat: float(named.get(seat) in agreed) for seat in seats}, unreadable)


def _lists(key: JsonValue) -> list[tuple[str, ...]]:
    lists = key if isinstance(key, dict) else {}
    return [tuple(str(each) for each in _list(lists.get(name))) for name in ("seats", "options", "right")]


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
