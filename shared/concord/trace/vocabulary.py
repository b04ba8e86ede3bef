"""Vocabulary: the content words of messages, as opposed to courtesies and counters."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

MAX_READ: Final = 200_000
"""Characters read of one message."""

_TOKEN: Final = re.compile(r"[^\W_]+(?:[.,'-][^\W_]+)*")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SHORTEST: Final = 3


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOP_WORDS: Final = _words(
    """
    a about above after again against all almost already also although always am among an and another any are around
    as at away back be because been before being below between both but by came can cannot come could did didn do
    does doesn doing don done down during each either else even ever every few for from further get gets give
    given go going got had has hasn have having he her here hers him his how however i if in into is isn it its
    itself just kind know last least less let like little ll look made make makes making many may maybe me might
    mine more most much must my myself near need needs neither never new next no none nor not nothing now of off
    often on once only onto or other others our ours out over own part per perhaps put quite rather re really
    same say says see seem seems shall she should since so some something still such take taken tell than that the
    their theirs them then there these they thing things this those though three through thus to together too
    under until up upon us use used using ve very want was way we well were what when where whether which while who
    whom whose why will with within without would yes yet you your yours yourself
    """
)

_COURTESIES: Final = _words(
    """
    ack acknowledge acknowledged agent agents alive anybody anyone anything available awaiting bonjour buenos bye
    check checking cheers ciao colleague colleagues confirm confirmed connected continue copy day days dear done
    echo evening everybody everyone fine fyi glad goodbye good got great greeting greetings guten hallo happy hear
    hello help hey hi hola hope howdy introduce introducing listening mate meet meeting message messages morning
    nice noted okay online ping pinging pings please pleased pleasure pong present progress ready received receiving
    regards reply request response roger salut sorry sounds standby standing start started status sure tag team
    teammate teammates test testing thank thanks there today understood update wait waiting welcome wilco working
    yeah yep
    """
)
"""Courtesies and test messages of agents, in several languages."""

_NUMERALS: Final = _words(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million first second third
    fourth fifth sixth seventh eighth ninth tenth
    """
)


def words_in(text: str) -> Iterator[str]:
    """The content words and figures (numbers, codes) of a text, case-folded, in order."""
    for token in _TOKEN.findall(text, 0, MAX_READ):
        word = token.casefold().removesuffix("'s")
        if "," in word:
            word = _THOUSANDS.sub("", word)
        if is_figure(word) or (len(word) >= _SHORTEST and word not in _STOP_WORDS and word not in _COURTESIES):
            yield word


def is_figure(word: str) -> bool:
    """Whether a word is a number, a code or a counter. Its information depends on who else uses it."""
    if word.isalpha():
        return word in _NUMERALS
    return any(map(str.isdigit, word)) or all(part in _NUMERALS for part in word.split("-"))


def strings_in(value: object) -> Iterator[str]:
    """All strings and numbers in a JSON value, without keys, in order."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, bool) or each is None:
            continue
        elif isinstance(each, int | float):
            yield f"{each:g}" if isinstance(each, float) else str(each)
        elif isinstance(each, dict):
            pending.extend(reversed(each.values()))
        elif isinstance(each, list):
            pending.extend(reversed(each))


def unquoted_words(said: Iterable[str], quote: str, limit: int) -> str:
    """The words of a message that its quote does not contain, each once, last first, up to `limit` characters.

    New content usually stands at the end of a long message.
    """
    if not (further := [text for text in said if text != quote]):  # most messages are quoted whole
        return ""
    quoted = set(words_in(quote))
    beyond = dict.fromkeys(word for text in further for word in words_in(text) if word not in quoted)
    kept: list[str] = []
    room = limit
    for word in reversed(beyond):
        room -= len(word) + 1
        if room < 0:
            break
        kept.append(word)
    return " ".join(kept)
