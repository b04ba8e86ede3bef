"""Families whose only answerer gives a JSON object from names to numbers, each of which counts for itself."""

from pydantic import JsonValue

from concord.suite import Answers, Grade
from concord_suites.answers import as_mapping, read_each, states_number
from concord_suites.family import TextFamily


class ObjectFamily(TextFamily):
    """A family with one part for each name that the question asks about. The key is an object of objects by seat."""

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each name with the right number, else 0. More than one number for a name is wrong."""
        expected = key if isinstance(key, dict) else {}
        objects, unreadable = read_each(answers, expected, as_mapping)
        parts = dict[str, float]()
        for seat, right in expected.items():
            given = {name.strip().casefold(): each for name, each in objects.get(seat, {}).items()}
            for name, each in right.items() if isinstance(right, dict) else ():
                parts[name] = float(states_number(given.get(name.casefold()), each))
        return Grade(parts, unreadable)
