"""Questions whose answer is one value, and the ways in which agents write it."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.kit.players.writings import number_in_words

STYLES: Final = ("plain", "chatty", "other spelling", "markdown", "JSON")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its right value and two wrong ones, and how to write a value in a sentence of a style."""

    kind: str
    text: str
    scorer: dict[str, object]
    values: tuple[str, str, str]
    spell: Callable[[str], str]
    subject: str

    @property
    def right(self) -> str:
        return self.values[0]

    @property
    def wrong(self) -> str:
        return self.values[1]

    def said(self, value: str, style: str) -> str:
        """A message that states a value."""
        match style:
            case "chatty":
                return f"Thanks for asking! I looked it up: {self.subject} {value}. Let me know if you need more."
            case "other spelling":
                return f"{self.subject} {self.spell(value)}"
            case "markdown":
                return f"### Result\n\n| what | value |\n| --- | --- |\n| {self.subject} | **{value}** |"
            case "JSON":
                return f'{{"about": "{self.subject}", "value": "{value}"}}'
        return f"{self.subject} {value}."


def _time(draw: random.Random) -> Question:
    hour = draw.randrange(13, 23)
    minutes = draw.sample([minute for minute in range(1, 60) if minute != 30], 3)
    values = tuple(f"{hour}:{minute:02}" for minute in minutes)
    return _question(
        "time",
        "When does the last ferry leave Aalvik?",
        values,
        lambda value: f"{int(value[:2]) - 12}.{value[3:]} p.m.",
        "The last ferry from Aalvik leaves at",
    )


def _code(draw: random.Random) -> Question:
    values = tuple(f"{draw.choice('KRTZ')}{draw.choice('BDXW')}-{draw.randrange(10_000, 100_000)}" for _ in range(3))
    return _question(
        "code",
        "Which code opens the depot in Lund?",
        values,
        lambda value: value.replace("-", "").lower(),
        "The depot in Lund opens with",
    )


def _number(draw: random.Random) -> Question:
    values = tuple(str(each) for each in draw.sample([n for n in range(2_101, 99_999) if n % 10], 3))
    return _question(
        "number",
        "How many visitors came to the museum of Ghent?",
        values,
        lambda value: number_in_words(int(value)),
        "The visitors of the museum of Ghent number",
    )


def _date(draw: random.Random) -> Question:
    days = draw.sample(range(1, 29), 3)
    values = tuple(f"{day} March 2031" for day in days)
    return _question(
        "date",
        "On which day does the fair in Basel open?",
        values,
        lambda value: f"2031-03-{int(value.split()[0]):02}",
        "The fair in Basel opens on",
    )


def _name(draw: random.Random) -> Question:
    values = tuple(draw.sample(["Bergen", "Girona", "Tartu", "Coimbra", "Utrecht", "Ostrava", "Varese", "Kaunas"], 3))
    return _question(
        "name", "Which town hosts the final?", values, lambda value: f"the town of {value}", "The final is played in"
    )


def _question(kind: str, text: str, values: tuple[str, ...], spell: Callable[[str], str], subject: str) -> Question:
    right, wrong, other = values
    return Question(kind, text, {"name": "includes"}, (right, wrong, other), spell, subject)


KINDS: Final = {"time": _time, "code": _code, "number": _number, "date": _date, "name": _name}


def question(draw: random.Random) -> Question:
    """A question of any kind."""
    return KINDS[draw.choice(sorted(KINDS))](draw)
