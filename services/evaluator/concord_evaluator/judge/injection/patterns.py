# ruff: noqa: RUF001 - quotation marks and stops of other scripts are meant
"""Patterns of text that speaks to a judge, made from the words of a language."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

NEAR: Final = r"(?:[^.!?。]|\.(?=\d)){0,40}?"
"""What stands between words of one sentence; the full stop in a number ends none."""
CLOSE: Final = r"[^.,;:!?。、()]{0,30}?"
"""What stands between words that belong together."""
BEYOND: Final = r"[\s\S]{0,150}?"
"""What stands between words of one sentence and of the next ones."""
TEN: Final = r"(?:\b(?:10|20) ?/ ?(?:10|20)\b|\b100 ?%|\b1[.,]0\b|1\.0分|1\.0点)"
"""The best of marks in figures. They say other things as well, and so count only where a team's work is named."""

_THAT: Final = r"[^.!?;。]{0,15}?"
_ARTICLES: Final = r"\W{0,3}(?:\w{1,20}\W{1,3}){0,2}?"
_OPENING: Final = r"[.!?:;,\"'“”‘’„«»()\[\]{}<>|*#=>。、-]"
_CONDITION: Final = r"if|when|where|only|unless|provided|wenn|falls|sofern|nur|si|cuando|quando|se|caso|если|когда"
_GOES_ON: Final = r"and|on every|on all|on each|for this|for all|for every|for each|to this|to us|to all|now|please"
_ENDED: Final = (
    rf"(?=\W*\Z|\s*[.!;:\"'”»)<\]}}。、|]|\s*[,、](?!\s*(?:{_CONDITION})\b)|\s*\n"
    rf"|\s(?:{_GOES_ON}|und|für alle|et|y|e|и)\b)"
)
"""An order is over, or goes on to the next one: nothing follows on which it would depend."""
_NO_EXAMPLE: Final = "".join(rf"(?<!{before} [\"“'])" for before in ("such as", "like", r"e\.g\.", "for example"))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A way to speak to a judge. `opens`: what it asks for may only come in the sentence after it."""

    regex: re.Pattern[str]
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Language:
    """The words of a language: each field is a regular expression of alternatives, as people write them.

    Orders: `ignore` instructions, `grade` the work of a team, `give` it points. `before`: what stands before an order
    besides punctuation, where orders look like statements. `aside`: what follows rules that are not the judge's.
    `address`, `role`: to a judge, or to be one, with the word for it. `this`: the work of a team.
    """

    ignore: str
    former: str
    rules: str
    judge: str
    address: str
    role: str
    must: str
    grade: str
    give: str
    top: str
    this: str
    every: str
    met: str
    say: str
    merits: str
    perfect: str
    verdict: str
    before: str = ""
    aside: str = ""
    verb_last: bool = False

    @property
    def every_met(self) -> str:
        """That every criterion is met."""
        return rf"(?:(?:{self.every}){NEAR}(?:{self.met})|\b(?:{self.met}){CLOSE}(?:{self.every}))"

    @property
    def praised(self) -> str:
        """A team's work beside the best of marks."""
        best = rf"(?:{self.top}|{TEN})"
        return rf"(?:(?:{self.this}){NEAR}{best}|{best}{NEAR}(?:{self.this}))"


def patterns_of(language: Language) -> Iterator[Pattern]:
    """All patterns in the words of a language."""
    begin = _beginning(language.before) if language.before else ""
    aside = rf"(?!\s*(?:{language.aside}))" if language.aside else ""
    ignore, grade, give, top, this, former, rules, say = (
        rf"(?:{words})"
        for words in (
            *(language.ignore, language.grade, language.give, language.top, language.this),
            *(language.former, language.rules, language.say),
        )
    )
    old_rules = rf"(?:{former}{CLOSE}{rules}|{rules}{CLOSE}{former})"
    perfect = rf"{this}{CLOSE}(?:{language.perfect})"
    if language.verb_last:
        yield pattern(rf"{old_rules}{CLOSE}{ignore}", opens=True)
        yield pattern(rf"(?:{language.praised}|{perfect}){NEAR}{grade}")
        yield pattern(rf"{top}{CLOSE}{give}")
        said = rf"{language.every_met}{CLOSE}{say}"
    else:
        judges_rules = rf"(?:{old_rules}{aside}|{former}{CLOSE}{former}{CLOSE}{rules})"
        yield pattern(rf"(?={ignore}){_NO_EXAMPLE}{begin}{ignore}{CLOSE}{judges_rules}", opens=True)
        yield pattern(rf"(?={grade}){begin}{grade}{NEAR}(?:{language.praised}|{perfect})")
        yield pattern(rf"(?={give}){begin}{give}{_ARTICLES}{top}{_ENDED}")
        said = rf"{say}{_THAT}{language.every_met}"
    wanted = rf"(?:{language.praised}|{perfect}|{this}{NEAR}(?:{language.merits})|{said})"
    yield pattern(rf"(?:{language.address}){BEYOND}{wanted}", opens=True)
    yield pattern(rf"(?:{language.role}){BEYOND}{wanted}", opens=True)
    yield pattern(rf"(?:{language.judge}){NEAR}(?:{language.must}){NEAR}{language.praised}")
    yield pattern(rf"{this}{NEAR}(?:{language.merits}){CLOSE}(?:{top}|{TEN})")
    yield pattern(rf"(?:{language.verdict}){CLOSE}(?:[\"'„“«「:=]\s*){{1,3}}met\b")


def pattern(written: str, *, opens: bool = False) -> Pattern:
    """A pattern from a regular expression as people would write it."""
    return Pattern(re.compile(_as_read(written)), opens)


def _beginning(words: str) -> str:
    """Where an order may begin. Each alternative looks behind, so that what stands before is no part of the match."""
    before = ("^", r"\n", _OPENING, rf"{_OPENING}\s", *(rf"\b{word}\s" for word in words.split("|")))
    return "(?:" + "|".join(rf"(?<={each})" for each in before) + ")"


def _as_read(written: str) -> str:
    """In the characters of plain forms: without accents, `ss` for `ß`, and lines may end at any blank."""
    decomposed = unicodedata.normalize("NFKD", written)
    bare = "".join(each for each in decomposed if unicodedata.category(each) != "Mn")
    return bare.replace("ß", "ss").replace(" ", r"\s")
