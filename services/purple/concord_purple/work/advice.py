"""What a researcher adds when asked to clarify its facts: how the writer could mend each weak spot."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from concord_purple.work.findings import Advice, Fact, Flaw
from concord_purple.work.text import Sentence, sentences_of

_JOINTS: Final = frozenset({"and", "but", "because", "although", "while", "which", "whereas", "since", "so", "when"})
_SHOWN_SENTENCES: Final = 8


def advise(text: str, facts: Iterable[Fact]) -> tuple[Advice, ...]:
    """Advice on every fact that holds something against the text, in the order of the facts."""
    sentences = sentences_of(text)
    return tuple(Advice(fact.fact_id, _ADVICE[fact.flaw](fact, sentences)) for fact in facts if fact.flaw is not None)


def _split_long(fact: Fact, sentences: Sequence[Sentence]) -> str:
    words = _words(fact, sentences)
    joints = [place for place, word in enumerate(words) if word.lower() in _JOINTS and 4 <= place <= len(words) - 4]
    if not joints:
        return "Split it in two, or cut it."
    place = min(joints, key=lambda joint: abs(2 * joint - len(words)))
    return f"Split it in two before “{' '.join(words[place : place + 3])}”."


def _name_source(_fact: Fact, _sentences: Sequence[Sentence]) -> str:
    return "Name the source, or say how it was measured."


def _prove_or_soften(_fact: Fact, _sentences: Sequence[Sentence]) -> str:
    return "Give the evidence, or claim less."


def _vary(fact: Fact, sentences: Sequence[Sentence]) -> str:
    places = [sentence.number for sentence in sentences if fact.quote in (word.lower() for word in sentence.words)]
    shown = ", ".join(map(str, places[:_SHOWN_SENTENCES]))
    more = " and later" if len(places) > _SHOWN_SENTENCES else ""
    return f"Vary or cut it (sentences {shown}{more})."


def _say_once(_fact: Fact, _sentences: Sequence[Sentence]) -> str:
    return "Say once how sure you are."


_ADVICE: Final[dict[Flaw, Callable[[Fact, Sequence[Sentence]], str]]] = {
    Flaw.LONG_SENTENCE: _split_long,
    Flaw.BARE_FIGURE: _name_source,
    Flaw.BARE_CLAIM: _prove_or_soften,
    Flaw.OVERUSED_WORD: _vary,
    Flaw.DENSE_HEDGING: _say_once,
}


def _words(fact: Fact, sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """The words of the sentence that a fact is about; none where it names a sentence that the text has not."""
    place = (fact.sentence or 0) - 1
    return sentences[place].words if 0 <= place < len(sentences) else ()
