"""The closed set of acts that a text can perform, and the words that perform them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from concord_assistant.meaning.clauses import Clause, Reading

Act = Literal["order", "accept", "refuse", "cancel", "ask", "inform"]

ACTS: Final[tuple[Act, ...]] = get_args(Act)

Cue = Act | Literal["keep"]
"""An act, or "keep": that something stays, which is the opposite of cancelling."""

OPPOSITES: Final[Mapping[Cue, frozenset[Cue]]] = {
    "order": frozenset({"refuse", "cancel"}),
    "accept": frozenset({"refuse", "cancel"}),
    "refuse": frozenset({"order", "accept"}),
    "cancel": frozenset({"keep"}),
    "ask": frozenset(),
    "inform": frozenset(),
}


@dataclass(frozen=True, slots=True)
class Performed:
    """An act that a clause performs, denies, or only supposes or asks about."""

    act: Cue
    clause: Clause
    denied: bool
    open: bool
    """Whether the clause only supposes it or asks about it."""
    strong: bool
    """Whether its words perform nothing else, so that they contradict the opposite act."""


def acts_in(reading: Reading) -> list[Performed]:
    """The acts of a text, clause by clause, each kind once in a clause. Informing needs no words of its own."""
    return [each for clause in reading.clauses for each in _acts_of(reading, clause)]


def _acts_of(reading: Reading, clause: Clause) -> Iterator[Performed]:
    is_open = clause.supposed or (clause.question and not clause.requested)
    is_past = _PAST.search(reading.marked, clause.at, clause.end) is not None
    said = {act for act, pattern in _IDIOMS.items() if pattern.search(reading.marked, clause.at, clause.end)}
    for act in said:
        yield Performed(act, clause, denied=False, open=is_open, strong=True)
    for act, pattern in _WORDS.items():
        found = pattern.search(reading.marked, clause.at, clause.end)
        if found is None or act in said:
            continue
        strong = act not in _STRONG or _STRONG[act].search(reading.marked, clause.at, clause.end) is not None
        if act == "order" and not strong and _PAPER.search(reading.marked, clause.at, clause.end):
            continue
        denied = found.start() in reading.denied or (act != "refuse" and found.start() in reading.refused)
        if denied and act == "order" and _is_polite_only(pattern, reading, clause):
            continue
        left_open = act != "ask" and (is_open or (act == "order" and is_past))
        yield Performed(act, clause, denied=denied, open=left_open, strong=strong)
    if clause.asks and "ask" not in said and not _WORDS["ask"].search(reading.marked, clause.at, clause.end):
        yield Performed("ask", clause, denied=False, open=False, strong=True)


def _is_polite_only(pattern: re.Pattern[str], reading: Reading, clause: Clause) -> bool:
    """Whether "please" is the only word to order in a clause: what one asks not to do is then something else."""
    return all(each[0].casefold() == "please" for each in pattern.finditer(reading.marked, clause.at, clause.end))


def chooses_you(clause: Clause) -> bool:
    """Whether a clause chooses the reader."""
    return _CHOSEN.search(clause.text) is not None


def enquires(reading: Reading) -> bool:
    """Whether a text asks what something costs. What else it says of a matter may then be no order."""
    return any(
        _PRICE.search(clause.text)
        and (clause.question or _ASKED_FOR.search(clause.text))
        and not _PRICED.search(clause.text)
        for clause in reading.clauses
    )


def _compiled(**patterns: str) -> dict[Cue, re.Pattern[str]]:
    return {act: re.compile(pattern, re.I | re.X) for act, pattern in patterns.items()}  # type: ignore[misc]


_OTHERS: Final = (
    r"(?<!over\s)(?<!over\sthe\s)(?:another|a\s+different|some\s+other|other|different|a\s+competing)\s+(?:\w+\s+)?(?:caterer|supplier|company|offer|"
    r"provider|vendor|firm|quote|bid|option|place|team|business)s?|(?:someone|somebody|somewhere|anyone)\s+else|elsewhere|"
    r"one\s+of\s+your\s+competitors|a\s+competitor|your\s+competition"
)

_WORDS: Final = _compiled(
    order=r"""\b(?:order(?:ing|ed|s)?|(?:would|'d)\s+(?:love|like)|take|want|need|require|buy|purchas\w+|book(?:ing)?|
        reserv(?:e|ing|ation)|send|ship|deliver|supply|prepare|put\s+(?:us|me)\s+down|sent\s+(?:us|me)|go(?:ing)?\s+(?:ahead|for|with)|
        accept(?:ing)?\s+your|commission\w*|chose(?:n)?|choosing|choose|decided\s+(?:on|for)|opted|settled\s+on|pick(?:ed)?|
        (?:have|get|make)\s+(?:us|me|it|that|\d+)|count\s+(?:on|us)|table\s+for|quantity|amount|confirm(?:ing|ed)?|please|
        (?:will|'ll)\s+have|hold(?=\s+(?:us\s+)?(?:a|the|our)\s+table)|arrange|provide|cater(?:ed)?|secure|got\s+the\s+job|would\s+be\s+(?:great|fine|perfect|good|lovely|ideal|right)|let's\s+(?:do|have|go|book|take)|accept)\b|\bit(?:\s+is|'s)\b""",
    accept=r"""\b(?:suit(?:s|ed)?|works?|fits?|(?:is|are|be|sounds?|looks?|all)\s+(?:\w+ly\s+)?(?:fine|good|ok|okay|perfect|great|
        confirmed|agreed|accept(?:able|ed)|convenient|alright|all\s+right|ideal|excellent|lovely|set|settled|wonderful|possible|approved)|
        (?:that|it)'s\s+(?:\w+ly\s+)?(?:fine|good|ok|okay|perfect|great|agreed|alright|ideal)|
        confirm\w*|agree(?:d|s)?|accept(?:ed|ing|s)?|yes|go\s+ahead|happy|pleased|glad|approv\w+|expect(?:ing)?|see\s+you|deal|can\s+make|
        look(?:ing)?\s+forward|ok\s+(?:for|with)|deliver\s+(?:\w+\s+){0,3}(?:on|then)|proceed|okay|perfect|great|fine|ideal|will\s+be\s+there|it\s+is(?=\s*[.!])|
        (?:can|will)\s+(?:do|meet|take|receive)|am\s+(?:free|available)|i'm\s+(?:free|available)|no\s+objections?|by\s+all\s+means)\b""",
    refuse=rf"""\b(?:declin\w*|turn(?:ed|ing)?\s+(?:\w+\s+){{0,3}}down|reject\w*|refus\w*|{_OTHERS}|
        decided\s+against|
        (?:have|has|had|need|going)\s+to\s+(?:cancel|skip|pass|miss|decline|drop\s+out|bow\s+out|say\s+no)|pass\s+on|miss(?:ing)?|skip(?:ping)?|
        without\s+(?:you|me)|cancel(?:l?ed|l?ing)?|call(?:ing|ed)?\s+off|off\s+the\s+table|(?:is|are|am|be|'s)\s+off|pass(?=\s+(?:this|on|for|up))|give\s+it\s+a\s+miss|count\s+me\s+out|
        fall(?:s|ing|en)?\s+through|regret)\b""",
    cancel=r"""\b(?:cancel(?:l?ed|l?ing|l?ation|s)?(?!\s+(?:polic|fee|number))|call(?:ing)?\s+off|withdraw\w*|annul\w*|revok\w*|rescind\w*|
        scrap|void|terminat\w*|drop(?=\s+(?:the|our|my|this|that)\s+(?:booking|reservation|order))|releas(?:e|ing)|(?:giv(?:e|ing)|free|freeing)\s+up|strike|delete|undo)\b""",
    ask=r"""\b(?:let\s+(?:me|us)\s+know|(?:tell|give|send|advise|quote|inform|text|drop)\s+(?:me|us)|(?:like|love|need|want|keen|grateful|curious|happy)\s+to\s+
        (?:know|hear|find\s+out|learn|ask)|wonder(?:ing|ed)?|ask(?:ing)?|quot(?:e|ation)|question|enquir\w+|inquir\w+|
        interested|looking\s+for|request(?:ing)?|whether|any\s+(?:idea|news|word|update)|(?:please|kindly)\s+(?:\w+\s+)?
        (?:confirm|advise|reply|answer|state|specify|indicate|say|quote|check|write|provide|include)|need(?:s)?\s+(?:\w+\s+){0,2}(?:quote|price|date|answer))\b""",
    keep=r"""\b(?:keep(?:ing|s)?(?!\s+(?:me|us|in\s+mind))|retain\w*|maintain\w*|leave(?!\s+on)|leaving|stays?(?=\s+(?:as|in|unchanged|untouched|valid|booked|put))|stands?|hold(?:ing)?|uphold|
        remain\w*|no\s+change|unchanged|untouched|extend\w*|confirm(?:ing)?\s+(?:my|our|the)\s+(?:booking|reservation|room|stay))\b""",
)
"""Words that perform an act, unless something denies them."""

_PAPER: Final = re.compile(
    r"\b(?:send|give|e?mail|show|forward)\s+(?:(?:us|me|over)\s+)?(?:an?\s+|the\s+|your\s+|some\s+|any\s+)?(?:\w+\s+)?"
    r"(?:menus?|quot\w+|prices?|lists?|information|details|brochures?|catalogues?|offers?|proposals?|estimates?)\b",
    re.I,
)
"""What one is sent that is no order."""
_CHOSEN: Final = re.compile(r"\b(?:choos\w+|chose|chosen|pick\w*|go(?:ing)?\s+with|tak(?:e|ing))\s+you\b", re.I)
_PRICE: Final = re.compile(
    r"\b(?:how\s+much|pric(?:e[sd]?|ing)|costs?|charge|quot(?:e|ation)s?|estimate|come\s+to|total|offer(?=\s+for))\b",
    re.I,
)
_PRICED: Final = re.compile(
    r"\b(?:usual|quoted|agreed|same|stated|offered)\s+price|\binvoice\b|[£€$]\s?\d|\b(?:GBP|EUR|USD)\s?\d", re.I
)
"""A price that is known."""
_ASKED_FOR: Final = re.compile(
    r"\b(?:please|kindly|(?:can|could|would|will|may)\s+(?:you|we|i)|need|want|like|know|ask(?:ing)?|tell|send|request|grateful|"
    r"looking\s+for|interested|wonder(?:ing)?)\b",
    re.I,
)
_PAST: Final = re.compile(r"\b(?:last|previous)\s+(?:year|month|week|time|season)\b|\bin\s+the\s+past\b", re.I)
"""A time in which something was ordered that is not ordered now."""
_STRONG: Final = _compiled(
    order=r"""\b(?:(?:will|'ll|to|we|i|hereby|please|now)\s+(?:order|book|reserve|buy)|(?:we|i)(?:'ll|\s+will)?\s+take|
        (?:please|kindly)\s+send\s+(?:us\s+|me\s+)?(?=\d)|confirm\w*\s+(?:our|my|the|an?)\s+order|(?:would|'d)\s+like\s+(?=\d)|go(?:ing)?\s+(?:ahead|with\s+you(?:rs|r)?)|accept(?:ing)?\s+your|
        (?:choose|chose|chosen|picked)\s+you|(?:please|kindly)\s+(?:deliver|ship|supply|prepare|cater)|get\s+the\s+order|got\s+the\s+job)\b""",
    accept=r"""\b(?:suits?|works\s+for|confirm\w*|agree(?:d)?|accept(?:ed|ing|s)?|go\s+ahead|be\s+there|see\s+you\s+(?:on|for|there|then)|can\s+(?:come|make\s+it)|will\s+come|i'm\s+coming|am\s+coming|looking\s+forward|yes)\b""",
)
"""The words of an act that leave no doubt."""

_NOT: Final = r"(?:\b(?:not|never|no\s+longer|unable\s+to|cannot|neither)|n't)\s+(?:\w+\s+){0,3}?"
_IDIOMS: Final = _compiled(
    refuse=rf"""{_NOT}(?:order\w*|plac\w+|book\w*|com(?:e|ing)|make|making|attend\w*|join\w*|be\s+there|accept\w*|tak(?:e|ing)|need\w*|requir\w*|
        us(?:e|ing)\s+your?|go(?:ing)?\s+(?:ahead|with|for|to\s+work)|work|be\s+(?:in\s+town|around|here)|proceed\w*|hir(?:e|ing)|buy\w*|choos\w*|chosen|pick\w*|select\w*|mov(?:e|ing)\s+forward|see\s+you|meet\w*|want\w*|have\s+dinner|
        do\s+dinner|with\s+you|avail\w*|be\s+able|from\s+you|eat|dine|happen\w*|take\s+place|count\s+on)\b|\bno\s+longer\s+(?:able|possible)\b|\b(?:we|i)\s+went\s+with\b(?!\s+you)|\bno\s+thank(?:s|\s+you)\b|\bno\s+order\b|
        \bnot\s+this\s+time\b|(?<!n't\s)(?<!not\s)(?<!never\s)\bsa(?:y|id|ying)\s+no\s+to\b|\bno\s+(?:dinner|lunch|meeting|visit|call)\b""",
    cancel=rf"""{_NOT}(?:need\w*|requir\w*|want\w*|us(?:e|ing)\s+(?:it|your|(?:\w+\s+)?(?:room|booking|reservation)s?)|tak(?:e|ing)\s+up|stay\w*|com(?:e|ing)|arriv\w*|travel\w*|mak(?:e|ing)\s+use)(?!\s+(?:to|you\s+to)\s+cancel)\b""",
)
"""Negations that perform an act."""
