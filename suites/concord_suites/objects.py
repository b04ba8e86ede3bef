"""Families whose only answerer gives a JSON object from names to numbers, each of which counts for itself."""

from pydantic import JsonValue

from concord.suite import Answers, Grade
from concord_suites.answers import UnreadableError, as_mapping, as_number
from concord_suites.family import TextFamily


class ObjectFamily(TextFamily):
    """A family with one part for each name that the question asks about. The key is an object of objects by seat."""

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each name with the right number, else 0. More than one number for a name is wrong."""
        parts, unreadable = dict[str, float](), list[str]()
        for seat, expected in key.items() if isinstance(key, dict) else ():
            given = dict[str, JsonValue]()
            if answers.get(seat) is not None:
                try:
                    given = {name.strip().casefold(): each for name, each in as_mapping(answers[seat]).items()}
                except UnreadableError:
                    unreadable.append(seat)
            for name, right in expected.items() if isinstance(expected, dict) else ():
                parts[name] = float(_is_number(given.get(name.casefold()), right))
        return Grade(parts, tuple(unreadable))


def _is_number(given: JsonValue, right: JsonValue) -> bool:
    try:
        return as_number(given) == right
    except UnreadableError:
        return False
