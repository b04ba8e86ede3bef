"""Faults of a character's reply, found by rule: it contradicts the brief, changes its author, or leaves its role."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from concord_assistant.characters.brief import Brief, Fact
from concord_assistant.characters.rule_based import mentions
from concord_assistant.scenario.schema import CharacterProfile, ScenarioConfig

SHARED_WORDS: Final = 8
"""Consecutive words that a reply may not share with the instructions or the criteria."""

MAX_QUOTE: Final = 120
"""Characters of a reply that a fault quotes."""


class FaultKind(StrEnum):
    """What is wrong with a reply, in words that complete "your last answer …"."""

    CONTRADICTION = "contradicts the profile"
    IMPERSONATION = "is written as somebody else"
    DISCLOSURE = "discloses what this person must not say"
    REFUSAL = "leaves the role"
    UNREADABLE = "is not what was asked for"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a reply. `detail` quotes the reply, which the assistant may have influenced."""

    kind: FaultKind
    detail: str

    def __str__(self) -> str:
        return f"the reply {self.kind}: {self.detail}"


_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_NEGATION: Final = re.compile(r"\b(not|no longer|never|nor|instead of|rather than)\b|n't\b", re.I)
_QUOTED: Final = re.compile(r"[\"“]([^\"”]+)[\"”]")
_WORD: Final = re.compile(r"\w+")
_VALUES: Final = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\d[\d:.,/-]+\d",
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day",
        r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    )
)
"""Figures of several digits, days of the week, and addresses."""

_OUT_OF_ROLE: Final = re.compile(
    r"""\b(?:as|i\ am|i'm|being)\ (?:just\ |only\ |merely\ )?(?:an?\ )?
        (?:ai|a\.i\.|artificial\ intelligence|(?:ai\ |large\ )?language\ model|llm|chat\ ?bot)\b
    |\bi\ (?:can't|cannot|can\ not|am\ unable\ to|won't|will\ not)\ (?:role-?play|pretend\ to\ be|impersonate
        |play\ (?:this|that|the)\ (?:role|character|person)|continue\ (?:this|the)\ simulation)\b
    |\b(?:my|the)\ (?:system\ prompt|system\ message|instructions\ (?:say|are|tell)|character\ profile)\b
    |\b(?:als\ ki|als\ sprachmodell|en\ tant\ qu'ia|como\ (?:una\ )?ia)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_HELPFUL: Final = re.compile(
    r"""\bhow\ (?:can|may)\ i\ (?:assist|help)\ you\ today\b
    |\bi\ (?:have|'ve)\ (?:completed|finished)\ (?:the|your|all)\ (?:tasks?|requests?)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Phrases of assistants."""

_DECORATION: Final = " \t-\u2013\u2014~*,."
"""Characters around a name at the end of a message."""


def faults_in(
    text: str, character_id: str, brief: Brief, scenario: ScenarioConfig, prompted: Sequence[str] = ()
) -> list[Fault]:
    """The faults of a text that a character would send, at most one of each kind but contradictions.

    `prompted`: what every character's model is told, which small models repeat.
    """
    profile, text = scenario.characters[character_id], text.replace("\u2019", "'")
    return [
        *_contradictions(text, brief),
        *_impersonation(text, profile, scenario),
        *_disclosure(text, profile, brief, scenario, prompted),
        *_refusal(text),
    ]


def _contradictions(text: str, brief: Brief) -> Iterator[Fault]:
    for name, fact in brief.facts.items():
        for sentence in _SENTENCE.split(text):
            if _contradicts(sentence, fact):
                yield Fault(FaultKind.CONTRADICTION, f"fact {name!r}, in {_quoted(sentence)}")
                return


def _contradicts(sentence: str, fact: Fact) -> bool:
    """Whether a sentence about a fact has values where the fact has some of their kind, and none of them is the fact's.

    A question or a negation states nothing.
    """
    if sentence.rstrip().endswith("?") or _NEGATION.search(sentence) or not mentions(sentence, fact.about):
        return False
    for kind in _VALUES:
        stated, said = ({each.casefold() for each in kind.findall(text)} for text in (fact.say, sentence))
        if stated and said and not stated & said:
            return True
    return False


def _impersonation(text: str, profile: CharacterProfile, scenario: ScenarioConfig) -> Iterator[Fault]:
    if (match := _HELPFUL.search(text) or _assistant_of(scenario.user).search(text)) is not None:
        yield Fault(FaultKind.IMPERSONATION, f"it speaks as the assistant, in {_quoted(match[0])}")
        return
    lines = [line.strip(_DECORATION) for line in text.splitlines() if line.strip()]
    for each in scenario.characters.values():
        if each.name.casefold() == profile.name.casefold():
            continue
        signed = len(lines) > 1 and lines[-1].casefold() == each.name.casefold()
        claims = (
            rf"\b(?:i am|i'm|this is|my name is) {re.escape(each.name)}(?:\s*(?:[.,;!:]|$|(?:here|speaking|writing)\b))"
        )
        if signed or re.search(claims, text, re.IGNORECASE | re.MULTILINE):
            yield Fault(FaultKind.IMPERSONATION, f"it speaks as {each.name}")
            return


def _assistant_of(user: CharacterProfile) -> re.Pattern[str]:
    """A claim to be the user's assistant."""
    owner = "|".join(re.escape(name) for name in dict.fromkeys((user.name, user.name.split()[0])))
    adjectives = r"(?:(?:personal|virtual|ai|digital|executive) )*"
    return re.compile(
        rf"\b(?:i am|i'm|this is|speaking as|writing as) (?:(?:your|(?:{owner})'s|(?:the )?user's) {adjectives}"
        r"|an? (?:personal|virtual|ai|digital) )assistant\b",
        re.IGNORECASE,
    )


def _disclosure(
    text: str, profile: CharacterProfile, brief: Brief, scenario: ScenarioConfig, prompted: Sequence[str]
) -> Iterator[Fault]:
    for phrase in brief.never_say:
        if mentions(text, [phrase]):
            yield Fault(FaultKind.DISCLOSURE, f"it says {phrase!r}")
            return
    instructions = profile.special_instructions or ""
    allowed = [
        *_QUOTED.findall(instructions),
        *(fact.say for fact in brief.facts.values()),
        *(rule.say for rule in brief.rules if rule.say),
    ]
    secret: Mapping[str, Sequence[str]] = {
        "instructions": [_QUOTED.sub(" | ", instructions)],
        "criteria": [
            part
            for each in scenario.criteria
            for part in (each.description, each.evaluation_prompt)
            if part is not None
        ],
        "prompt": prompted,
    }
    said = _runs([text]) - _runs(allowed)
    for name, texts in secret.items():
        if shared := said & _runs(texts):
            yield Fault(FaultKind.DISCLOSURE, f"it repeats the {name}, in {_quoted(' '.join(min(shared)))}")
            return


def _refusal(text: str) -> Iterator[Fault]:
    if (match := _OUT_OF_ROLE.search(text)) is not None:
        yield Fault(FaultKind.REFUSAL, f"in {_quoted(match[0])}")


def _runs(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """All runs of `SHARED_WORDS` consecutive words."""
    found: set[tuple[str, ...]] = set()
    for text in texts:
        words = [word.casefold() for word in _WORD.findall(text)]
        found.update(tuple(words[at : at + SHARED_WORDS]) for at in range(len(words) - SHARED_WORDS + 1))
    return found


def _quoted(text: str) -> str:
    shown = " ".join(text.split())
    return f"“{shown if len(shown) <= MAX_QUOTE else f'{shown[: MAX_QUOTE - 1]}…'}”"
