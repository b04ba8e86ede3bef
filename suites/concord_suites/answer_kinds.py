"""What families of one kind of answer have in common: a majority's value, a stated name, a list of items."""

from abc import abstractmethod
from collections import Counter
from typing import ClassVar, Final

from pydantic import BaseModel, JsonValue

from concord.suite import Answers, Grade, Kind
from concord_suites.answers import as_list, as_word, read_each
from concord_suites.family import Setting, TextFamily, grade_each

# Families whose answers count only if more than half of the seats give the same right one.


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
        members = key if isinstance(key, dict) else {}
        seats, options, right = (_strings(members.get(name)) for name in ("seats", "options", "right"))
        named, unreadable = read_each(answers, seats, lambda answer: self.read_answer(answer, options))
        counts = Counter(named.values())
        agreed = {value for value in right if 2 * counts[value] > len(seats)}
        return Grade({seat: float(named.get(seat) in agreed) for seat in seats}, unreadable)


def _strings(value: JsonValue) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


# Families whose answer is one of the names that the briefs state.


class ChoiceFamily(TextFamily):
    """Each answerer names the one right option. An answer that names several options is unreadable."""

    result: ClassVar = Kind.NAME

    @abstractmethod
    def options(self, setting: Setting) -> list[str]:
        """All names that could be the answer, sorted."""

    @abstractmethod
    def right(self, setting: Setting) -> str:
        """The right name. Raises LookupError or ValueError if the statements leave none or several."""

    def solve(self, setting: Setting) -> Answers:
        """The right name."""
        return dict.fromkeys(setting.answerers, self.right(setting))

    def key(self, setting: Setting) -> JsonValue:
        """The right answers by seat, and all options."""
        return {"answers": dict(self.solve(setting)), "options": list[JsonValue](self.options(setting))}

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each seat that names the right option and no other, else 0."""
        members = key if isinstance(key, dict) else {}
        right, options = members.get("answers"), _strings(members.get("options"))
        return grade_each(answers, right if isinstance(right, dict) else {}, lambda answer: as_word(answer, options))


# The base of families whose answer is a list, of which each item counts.

AS_LIST: Final = "Answer with a JSON list of strings."
"""What a question says about the form of an answer."""


class ListKey(BaseModel):
    """What a list is compared with."""

    seat: str
    """The answerer."""
    wanted: list[str]
    """The items that count, each of which is a part."""
    neutral: list[str] = []
    """Right items that the answerer holds itself, which count neither for nor against it."""


class ListFamily(TextFamily):
    """A family in which one seat answers with a list."""

    @abstractmethod
    def list_key(self, setting: Setting) -> ListKey:
        """What the list is compared with."""

    def key(self, setting: Setting) -> JsonValue:
        """The key as JSON."""
        return self.list_key(setting).model_dump()

    def solve(self, setting: Setting) -> Answers:
        """All right items."""
        key = self.list_key(setting)
        return {key.seat: [*key.wanted, *key.neutral]}

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """Each wanted item in the list counts 1, and each wrong item takes away as much, down to 0 in all."""
        expected = ListKey.model_validate(key)
        parts = dict.fromkeys(expected.wanted, 0.0)
        lists, unreadable = read_each(answers, [expected.seat], as_list)
        items = {each.upper() for given in lists.values() for each in given}
        right = [each for each in expected.wanted if each in items]
        wrong = items.difference(expected.wanted, expected.neutral)
        return Grade(parts | dict.fromkeys(right, max(0.0, 1 - len(wrong) / max(1, len(right)))), unreadable)
