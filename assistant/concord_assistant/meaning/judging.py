"""Whether a text says what it has to say, by rules alone."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from concord_assistant.meaning.acts import Performed, acts_in, chooses_you, enquires
from concord_assistant.meaning.case import Case, Seen
from concord_assistant.meaning.clauses import Clause, Reading, read
from concord_assistant.meaning.matters import owners_of
from concord_assistant.meaning.saying import Judgement, Saying
from concord_assistant.meaning.targets import required_of, targets_in, words_of

MAX_TEXT: Final = 2_000
"""Characters of a text that are read. A longer one is not understood."""

_OTHER: Final = re.compile(r"\b(?:other|others|second|else|rest)\b", re.I)
"""What is kept beside that of which a text speaks."""
_RELATIVE: Final = re.compile(r"\b(?:today|tomorrow|tonight|the day after|next week|this week|in \d+ days)\b", re.I)


def judge(text: str, saying: Saying) -> Judgement:
    """Whether a text says one thing."""
    return judge_all(text, [saying])[0]


def judge_all(text: str, sayings: Sequence[Saying]) -> list[Judgement]:
    """Whether a text says each of several things. Values belong to the thing whose words (`about`) are nearest."""
    if len(text) > MAX_TEXT:
        return [Judgement("not_understood", f"the text is longer than {MAX_TEXT} characters")] * len(sayings)
    reading = read(text)
    acts = acts_in(reading)
    owners = owners_of(reading, sayings)
    return [_judged(Case(reading, acts, saying, owners, number)) for number, saying in enumerate(sayings)]


def _judged(case: Case) -> Judgement:
    judgement = _by_rules(case)
    if judgement.understood != "not_understood":
        return judgement
    wordings = ([each] if isinstance(each, str) else each for each in case.saying.values.values())
    required = [each for named in wordings for each in required_of(named)]
    return replace(judgement, has_values=all(any(seen.fits for seen in case.seen(each)) for each in required))


def _by_rules(case: Case) -> Judgement:
    saying, seen, found = case.saying, list[Seen](), list[Judgement]()
    if saying.about is not None and (missing := _of_matter(case, saying.about)):
        return missing
    for wordings in saying.values.values():
        named = [wordings] if isinstance(wordings, str) else wordings
        for required in required_of(named):
            values = list(case.seen(required))
            seen += values
            found.append(_of_values(values, required, case.reading))
    for never in saying.never:
        if any(each.fits and each.status == "said" for each in case.seen([never])):
            found.append(Judgement("wrong", f"it also says {never}"))
    if saying.act != "inform":
        found.append(of_act(case, seen))
    for verdict in ("wrong", "not_understood"):
        if first := next((each for each in found if each.understood == verdict), None):
            silent = bool(saying.values) and not seen
            return Judgement(first.understood, first.why, silent)
    if case.reading.taken_back:
        return Judgement("not_understood", "it takes back what it says")
    if case.reading.hedged:
        return Judgement("not_understood", "it leaves open what it says")
    if case.reading.begins_with_no and saying.act in {"order", "accept", "cancel"}:
        return Judgement("not_understood", "it begins with a no")
    return Judgement("right", "it says so")


def _of_matter(case: Case, about: Sequence[str]) -> Judgement | None:
    """Why the text does not speak of the matter."""
    text = case.reading.text
    places = [match.start() for word in about for match in words_of(word).finditer(text)]
    if not places:
        return Judgement("wrong", f"it does not name {about[0]}", silent=True)
    if case.saying.act in {"order", "ask"} and all(at in case.reading.denied for at in places):
        return Judgement("wrong", f"it denies {about[0]}")
    return None


def _of_values(seen: Sequence[Seen], wordings: Sequence[str], reading: Reading) -> Judgement:
    wanted = wordings[0]
    fitting = [each for each in seen if each.fits]
    said = [each for each in fitting if each.status == "said"]
    others = [each for each in seen if not each.fits and each.status == "said"]
    if not fitting:
        if _RELATIVE.search(reading.text) and any(each.kind in {"date", "weekday"} for each in targets_in(wordings)):
            return Judgement("not_understood", f"it names a day by its distance, where {wanted} is meant")
        but = f", but {others[0].text}" if others else ""
        return Judgement("wrong", f"it does not say {wanted}{but}")
    if not said:
        if any(each.status == "open" for each in fitting):
            return Judgement("not_understood", f"it leaves {wanted} open")
        asked = any(each.status == "asked" for each in fitting)
        return Judgement("wrong", f"it asks about {wanted}" if asked else f"it denies {wanted}")
    if any(each.status == "denied" for each in fitting):
        return Judgement("not_understood", f"it says {wanted} and denies it")
    if any(each.status == "open" and each.at in reading.alternative for each in fitting):
        return Judgement("not_understood", f"it names {wanted} and an alternative")
    if others:
        return Judgement("not_understood", f"it names {wanted} and also {others[0].text}")
    return Judgement("right", f"it says {wanted}")


def of_act(case: Case, seen: Sequence[Seen]) -> Judgement:
    """Whether the text performs the act. A clause with other values only says nothing about it."""
    act = case.saying.act
    own = speaking_of(case, seen)
    performed = [each for each in own if each.act == act and not each.denied and not each.open]
    against = [each for each in own if (each.act == act) == each.denied and not each.open]
    if performed and against:
        return Judgement("not_understood", f"it says to {act} and the opposite")
    if performed and act == "order" and enquires(case.reading) and not any(each.strong for each in performed):
        return Judgement("not_understood", "it asks for a price, and may not order")
    if performed:
        return Judgement("right", f"it says to {act}")
    if against:
        return Judgement("wrong", f"it does not {act}: it says the opposite")
    return Judgement("wrong" if act == "ask" else "not_understood", f"no words to {act} were found")


def speaking_of(case: Case, seen: Sequence[Seen]) -> list[Performed]:
    """The performances of the act and its opposites that may be meant.

    Of names, such as titles, a text may say different things: those count that are nearest to the right name.
    """
    refused = {each.clause.at for each in case.relevant if each.act == "refuse" and not each.denied}
    relevant = [
        each
        for each in case.relevant
        if not (case.saying.act == "refuse" != each.act and each.clause.at in refused and not chooses_you(each.clause))
        and not (each.act == "keep" and _OTHER.search(_sentence_before(case.reading, each.clause)))
    ]
    if seen and all(value.fits and value.named for value in seen):
        near = [each for value in seen for each in case.near(value.at)]
        return [each for each in relevant if each in near]
    own = []
    for each in relevant:
        values = [value for value in seen if each.clause.at <= value.at < each.clause.end]
        if not values or any(value.fits for value in values):
            own.append(each)
    return own


def _sentence_before(reading: Reading, clause: Clause) -> str:
    """A sentence up to the end of a clause."""
    return " ".join(each.text for each in reading.clauses if each.sentence == clause.sentence and each.at <= clause.at)
