"""The machine-readable end of an answer: where in the text each kind of flaw is, by the findings that stand."""

import json
from typing import Final

from concord_purple.work.findings import Aspect, Findings, Flaw

_KEYS: Final = {
    "long_sentences": (Aspect.SENTENCES, Flaw.LONG_SENTENCE),
    "figures_without_source": (Aspect.SUPPORT, Flaw.BARE_FIGURE),
    "claims_without_evidence": (Aspect.SUPPORT, Flaw.BARE_CLAIM),
    "doubly_hedged": (Aspect.HEDGING, Flaw.DENSE_HEDGING),
}


def answer_json(findings: Findings) -> str:
    """One JSON object on one line: how many sentences there are, and for each kind of flaw theirs, ascending.

    Null stands for what nobody has looked at. Nothing is measured here: what no fact says is not in it.
    """
    facts = findings.standing_facts
    seen = {fact.aspect for fact in facts}
    counted = [int(fact.value) for fact in facts if fact.aspect is Aspect.SENTENCES and fact.flaw is None]
    found = {
        key: sorted(fact.sentence for fact in facts if fact.flaw is flaw and fact.sentence is not None)
        if aspect in seen
        else None
        for key, (aspect, flaw) in _KEYS.items()
    }
    return json.dumps({"sentences": counted[0] if counted else None} | found)
