"""The patterns of text that addresses a judge: read from `pattern_data/` and compiled when they are first needed."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from string import Template
from typing import Any, Final

from concord.judging.verdicts import RUBRIC_IDS

ENGLISH: Final = "english"
LANGUAGES: Final = (
    *(ENGLISH, "german", "french", "spanish", "italian"),
    *("portuguese", "russian", "chinese", "japanese"),
)

_JUDGE_GROUPS: Final = ("verdicts", "frames", "praise", "secrets")
_WRAPPED: Final = re.compile(r"\n *")

Expressions = dict[str, str]
"""Regular expressions in normal spelling, by name."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A way to address a judge. `opens`: the next sentence may have the request."""

    regex: re.Pattern[str]
    opens: bool = False


@cache
def team_patterns(*languages: str) -> tuple[Pattern, ...]:
    """The patterns for the work of a team: of the judge's own vocabulary, and of these languages."""
    return (*_judge_patterns(), *chain.from_iterable(_language_patterns(each, "this") for each in languages))


@cache
def assistant_patterns() -> tuple[Pattern, ...]:
    """The English patterns for the work of an assistant."""
    return tuple(_language_patterns(ENGLISH, "assistant"))


def _judge_patterns() -> Iterator[Pattern]:
    data = _data("judge")
    known = _vocabulary(ENGLISH, "this") | {"rubric_ids": _group("|".join(RUBRIC_IDS))}
    known = _extended(known, data["parts"])
    for group in _JUDGE_GROUPS:
        for written in data[group].values():
            yield Pattern(_compiled(_filled(written, known)))


def _language_patterns(language: str, work: str) -> Iterator[Pattern]:
    """`work`: the word that stands for the work that is judged."""
    data, known = _data("common"), _vocabulary(language, work)
    patterns = data[_word_order(language)]["patterns"] | data["patterns"]
    for name, written in patterns.items():
        yield Pattern(_compiled(_filled(written, known)), name in data["opening_patterns"])


def _vocabulary(language: str, work: str) -> Expressions:
    """All that the patterns of a language may name: its words, and what consists of them."""
    common, own = _data("common"), _data(language)
    known = _extended(_extended({}, common["fragments"]), own["words"])
    known["this"] = known[work]
    known["begin"] = _beginning(known["opening"], own.get("before", []))
    known["aside"] = rf"(?!\s*{known['aside']})" if "aside" in known else ""
    return _extended(_extended(known, common["parts"]), common[_word_order(language)]["parts"])


def _word_order(language: str) -> str:
    return "verb_last" if _data(language).get("verb_last") else "verb_first"


def _beginning(opening: str, words: list[str]) -> str:
    """The possible beginnings of an order, as lookbehinds, so that a match does not include the text before it."""
    if not words:
        return ""
    before = ("^", r"\n", opening, rf"{opening}\s", *(rf"\b{word}\s" for word in words))
    return _group("|".join(rf"(?<={each})" for each in before))


def _extended(known: Expressions, written: Mapping[str, str]) -> Expressions:
    """The known expressions and these, each of which may name those before it."""
    known = dict(known)
    for name, each in written.items():
        known[name] = _group(_filled(each, known))
    return known


def _filled(written: str, known: Expressions) -> str:
    return Template(_WRAPPED.sub("", written)).substitute(known)


def _group(expression: str) -> str:
    return f"(?:{expression})"


def _compiled(written: str) -> re.Pattern[str]:
    """The expression for deobfuscated text: without accents, `ss` for `ß`, and any white space for a blank."""
    decomposed = unicodedata.normalize("NFKD", written)
    bare = "".join(each for each in decomposed if unicodedata.category(each) != "Mn")
    return re.compile(bare.replace("ß", "ss").replace(" ", r"\s"))


@cache
def _data(name: str) -> Mapping[str, Any]:
    """A data file of this package."""
    return tomllib.loads(files(__package__).joinpath("pattern_data", f"{name}.toml").read_text(encoding="utf-8"))
