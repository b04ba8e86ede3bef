# ruff: noqa: RUF001 - quotation marks and stops of other scripts are meant
"""Patterns of text that addresses a judge, built from the vocabulary of a language."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

NEAR: Final = r"(?:[^.!?。]|\.(?=\d)){0,40}?"
"""Text between words of one sentence. A decimal point does not end a sentence."""
CLOSE: Final = r"[^.,;:!?。、()]{0,30}?"
"""Text between words that belong together."""
BEYOND: Final = r"[\s\S]{0,150}?"
"""Text between words of one sentence and of the following ones."""
TEN: Final = r"(?:\b(?:10|20) ?/ ?(?:10|20)\b|\b100 ?%|\b1[.,]0\b|1\.0分|1\.0点)"
"""Top marks in figures. Figures are ambiguous, so they count only beside the work of a team."""

_THAT: Final = r"[^.!?;。]{0,15}?"
_ARTICLES: Final = r"\W{0,3}(?:\w{1,20}\W{1,3}){0,2}?"
_OPENING: Final = r"[.!?:;,\"'“”‘’„«»()\[\]{}<>|*#=>。、-]"
_CONDITION: Final = r"if|when|where|only|unless|provided|wenn|falls|sofern|nur|si|cuando|quando|se|caso|если|когда"
_GOES_ON: Final = r"and|on every|on all|on each|for this|for all|for every|for each|to this|to us|to all|now|please"
_ENDED: Final = (
    rf"(?=\W*\Z|\s*[.!;:\"'”»)<\]}}。、|]|\s*[,、](?!\s*(?:{_CONDITION})\b)|\s*\n"
    rf"|\s(?:{_GOES_ON}|und|für alle|et|y|e|и)\b)"
)
"""The end of an order without a condition."""
_NO_EXAMPLE: Final = "".join(rf"(?<!{before} [\"“'])" for before in ("such as", "like", r"e\.g\.", "for example"))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A way to address a judge. `opens`: the next sentence may have the request."""

    regex: re.Pattern[str]
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Language:
    """The vocabulary of a language. Each field is a regular expression of alternatives, as people write them.

    Orders: `ignore` instructions, `grade` the work of a team, `give` it points. `before`: words that may precede an
    order, in languages where orders look like statements. `aside`: words that follow rules which are not the judge's.
    `address`, `role`: an address of a judge, a role as judge. `this`: the work of a team.
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
        """A claim that every criterion is met."""
        return rf"(?:(?:{self.every}){NEAR}(?:{self.met})|\b(?:{self.met}){CLOSE}(?:{self.every}))"

    @property
    def praised(self) -> str:
        """The work of a team beside top marks."""
        best = rf"(?:{self.top}|{TEN})"
        return rf"(?:(?:{self.this}){NEAR}{best}|{best}{NEAR}(?:{self.this}))"


def patterns_of(language: Language) -> Iterator[Pattern]:
    """All patterns in a language."""
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
        claimed = rf"{language.every_met}{CLOSE}{say}"
    else:
        judges_rules = rf"(?:{old_rules}{aside}|{former}{CLOSE}{former}{CLOSE}{rules})"
        yield pattern(rf"(?={ignore}){_NO_EXAMPLE}{begin}{ignore}{CLOSE}{judges_rules}", opens=True)
        yield pattern(rf"(?={grade}){begin}{grade}{NEAR}(?:{language.praised}|{perfect})")
        yield pattern(rf"(?={give}){begin}{give}{_ARTICLES}{top}{_ENDED}")
        claimed = rf"{say}{_THAT}{language.every_met}"
    wanted = rf"(?:{language.praised}|{perfect}|{this}{NEAR}(?:{language.merits})|{claimed})"
    yield pattern(rf"(?:{language.address}){BEYOND}{wanted}", opens=True)
    yield pattern(rf"(?:{language.role}){BEYOND}{wanted}", opens=True)
    yield pattern(rf"(?:{language.judge}){NEAR}(?:{language.must}){NEAR}{language.praised}")
    yield pattern(rf"{this}{NEAR}(?:{language.merits}){CLOSE}(?:{top}|{TEN})")
    yield pattern(rf"(?:{language.verdict}){CLOSE}(?:[\"'„“«「:=]\s*){{1,3}}met\b")


def pattern(written: str, *, opens: bool = False) -> Pattern:
    """A pattern from a regular expression in normal spelling."""
    return Pattern(re.compile(_as_read(written)), opens)


def _beginning(words: str) -> str:
    """The possible beginnings of an order, as lookbehinds, so that a match does not include the text before it."""
    before = ("^", r"\n", _OPENING, rf"{_OPENING}\s", *(rf"\b{word}\s" for word in words.split("|")))
    return "(?:" + "|".join(rf"(?<={each})" for each in before) + ")"


def _as_read(written: str) -> str:
    """The expression for deobfuscated text: without accents, `ss` for `ß`, and any white space for a blank."""
    decomposed = unicodedata.normalize("NFKD", written)
    bare = "".join(each for each in decomposed if unicodedata.category(each) != "Mn")
    return bare.replace("ß", "ss").replace(" ", r"\s")
