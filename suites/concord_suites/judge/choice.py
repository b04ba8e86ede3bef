"""Families whose answer is one of the names that the briefs state."""

from abc import abstractmethod
from collections.abc import Collection, Mapping

from pydantic import JsonValue

from concord.suite import Answers, Fact, Grade, SuiteTask, Value
from concord.suite.value import name
from concord_suites.answers import as_word
from concord_suites.family import Setting, TextFamily, grade_each, setting_of


class ChoiceFamily(TextFamily):
    """Each answerer names the one right option. An answer that names several options is unreadable."""

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
        right, options = _parts_of(key)
        return grade_each(answers, right, lambda answer: as_word(answer, options))

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The right name stands for all facts, once all are known."""
        if len(known) < len(task.facts):
            return {}
        return {name(self.right(setting_of(self, task))): frozenset(fact.id for fact in known)}


def _parts_of(key: JsonValue) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    members = key if isinstance(key, dict) else {}
    answers, options = members.get("answers"), members.get("options")
    return (
        answers if isinstance(answers, dict) else {},
        tuple(str(each) for each in options) if isinstance(options, list) else (),
    )
