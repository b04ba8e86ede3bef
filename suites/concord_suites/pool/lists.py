"""The base of families whose answer is a list, of which each item counts."""

from abc import abstractmethod
from typing import Final

from pydantic import BaseModel, JsonValue

from concord.suite import Answers, Grade
from concord_suites.answers import UnreadableError, as_list
from concord_suites.family import Setting, TextFamily

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
        answer = answers.get(expected.seat)
        if answer is None:
            return Grade(parts)
        try:
            items = {each.upper() for each in as_list(answer)}
        except UnreadableError:
            return Grade(parts, (expected.seat,))
        right = [each for each in expected.wanted if each in items]
        wrong = items.difference(expected.wanted, expected.neutral)
        return Grade(parts | dict.fromkeys(right, max(0.0, 1 - len(wrong) / max(1, len(right)))))
