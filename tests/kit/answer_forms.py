"""Forms in which models write an answer that they commit to, and in which they deny one."""

import json
from collections.abc import Callable, Mapping
from typing import Final

from pydantic import JsonValue

Form = Callable[[JsonValue], str]
"""Writes the answer of a seat."""


def plain(answer: JsonValue) -> str:
    """The answer alone, as the question asks for it."""
    return answer if isinstance(answer, str) else json.dumps(answer)


def _around(template: str) -> Form:
    return lambda answer: template.replace("{}", plain(answer))


def _json(template: str) -> Form:
    return lambda answer: template.replace("{}", json.dumps(answer))


COMMITTING: Final[Mapping[str, Form]] = {
    "alone": plain,
    "with a full stop": _around("{}."),
    "in bold": _around("**{}**"),
    "in code": _around("`{}`"),
    "marked": _around("Answer: {}"),
    "final": _around("**Final answer:** {}"),
    "boxed": _around(r"\boxed{{}}"),
    "sentence": _around("After hearing from everyone, my answer is {}."),
    "sentence of all 3 seats": _around("After hearing from all 3 seats, the answer is {}."),
    "as of a round": _around("{} (as of round 2)"),
    "round before": _around("Round 3: {}"),
    "reason before": _around("I waited for agent/2's message in round 2. The answer is {}"),
    "reason after": _around("{}\n\nThis follows from what everybody told me."),
    "probably": _around("It is probably {}."),
    "no doubt": _around("There is no doubt it is {}."),
    "not sure, but": _around("I am not entirely sure, but it is {}."),
    "cannot rule out errors": _around("I could not check it twice. My answer: {}"),
    "nothing but": _around("It is nothing but {}."),
    "answer member": _json('{"answer": {}}'),
    "nested answer": _json('{"answer": {"answer": {}}}'),
    "result and explanation": _json('{"result": {}, "explanation": "All seats told me."}'),
    "confidence beside": _json('{"answer": {}, "confidence": 0.93}'),
    "key in capitals": _json('{"Answer": {}}'),
    "final_answer": _json('{"final_answer": {}, "round": 2}'),
    "fenced block": _json("```json\n{}\n```"),
    "fenced object": _json('Here is my answer:\n\n```json\n{"answer": {}}\n```\n\nLet me know if you need more.'),
    "fenced without language": _json('```\n{"result": {}}\n```'),
    "JSON in a string": lambda answer: json.dumps(json.dumps({"answer": answer})),
    "thought before": _around("<think>Seat agent/2 has sent 2 messages.</think>\n{}"),
}
DENYING: Final[Mapping[str, Form]] = {
    "not": _around("It is not {}."),
    "anything but": _around("Anything but {}."),
    "would not say": _around("I would not say {}."),
    "claim is false": _around("The claim that it is {} is false."),
    "everything except": _around("Everything except {}."),
    "opposite": _around("The opposite of {}."),
    "is wrong": _around("{} is wrong."),
    "is not the answer": _around("{} is not the answer."),
    "rule out": _around("I rule out {}."),
    "not believe": _around("I do not believe that it is {}."),
    "doubt": _around("I doubt that the answer is {}."),
    "cannot be": _around("It cannot be {}."),
    "under a key": _json('{"not": {}}'),
}

NOTATIONS: Final[Mapping[str, Callable[[int], str]]] = {
    "digits": str,
    "commas": lambda number: f"{number:,}",
    "full stops": lambda number: f"{number:,}".replace(",", "."),
    "spaces": lambda number: f"{number:,}".replace(",", " "),
    "narrow spaces": lambda number: f"{number:,}".replace(",", "\u202f"),
    "underscores": lambda number: f"{number:_}",
    "apostrophes": lambda number: f"{number:,}".replace(",", "'"),
    "LaTeX comma": lambda number: f"${number:,}$".replace(",", "{,}"),
    "LaTeX space": lambda number: f"${number:,}$".replace(",", r"\,"),
    "power of ten": lambda number: f"{number / 10 ** (len(str(number)) - 1)}e{len(str(number)) - 1}",
    "unit": lambda number: f"{number} crowns",
}
"""Ways to write a whole number of five digits or more."""
