"""Tells a value that a text denies from one that it states: not X, anything but X, the claim that it is X is false."""

import re
from typing import Final

_NEAR: Final = 160
"""Characters beside a value in which words may deny it."""

_MARKUP: Final = re.compile("[*_`\"'\u2018\u2019\u201c\u201d<>{}\\[\\]](?!t\\b)")
_CLAUSE_END: Final = re.compile(
    r"[.!?](?=\s)|[;,\n]|:(?!\s*$)|\b(?:and|while|because|since|although|though|so|whereas)\b"
    r"|(?<!thing )(?<!every )(?<!one )(?<!body )(?<!all )(?<!day )\bbut\b"
)
"""What ends the reach of a denial: "not X but Y" and "not X, Y" are two clauses, "anything but X" is one."""

_NOT: Final = r"\b(?:not|never|neither|nor|cannot|no longer|(?:by|in|under) no \w+|\w+n['\u2019]t)\s+"
_WORDS: Final = r"(?:\s+[\w/'-]+){0,10}?"
_NOUN: Final = (
    r"(?:(?:right|correct|final|true)\s+)?"
    r"(?:answer|result|value|number|total|sum|solution|day|date|code|name|winner|option|one|case)"
)
_LINKS: Final = (
    r"(?:(?:be|been|being|is|was|are|equals?|exactly|to|the|an?|any|of|at|on|in|with|for|as|about|that|it|this|really|"
    rf"actually|simply|necessarily|{_NOUN})\s+)*"
)
_SAY: Final = (
    r"(?:say(?:ing)?|think|believe|claim|answer|call|accept|agree|conclude|suggest|confirm|state|assert|consider|pick|"
    r"choose|name|go|take|report|mean|expect|guess|suppose|vote|propose|endorse|support|see|recommend|hold|submit)"
)
_WRONG: Final = (
    r"(?:false|wrong|incorrect|untrue|mistaken|invalid|impossible|nonsense|excluded|rejected|ruled out|refuted|"
    r"disproved|out of the question|an? (?:mistake|lie|error))"
)
_BEFORE: Final = re.compile(
    rf"(?:{_NOT}(?!(?:only|just|merely|less|fewer|more)\b)(?:\w+ly\s+)?{_LINKS}"
    rf"|{_NOT}(?:\w+ly\s+)?{_SAY}\b{_WORDS}\s+"
    rf"|{_NOT}(?:true|right|correct|so|possible|likely|the\s+case)\s+(?:that|to)\b{_WORDS}\s+"
    r"|(?:\b(?:any|every)(?:\s+\w+|thing|one|body|where)?\s+but|\ball\s+but|\bexcept(?:ing)?(?:\s+for)?|\bother\s+than"
    r"|\b(?:excluding|apart\s+from|besides|unlike|different\s+from|rather\s+than|(?:instead|in\s+place)\s+of)"
    rf"|\b(?:opposite|contrary|reverse|inverse)\s+of)\s+{_LINKS}"
    r"|\b(?:rul(?:ed?|es|ing)\s+out|exclud(?:e[sd]?|ing)|reject(?:s|ed|ing)?|den(?:y|ies|ied|ying)|refut(?:e[sd]?|ing)"
    rf"|disprov(?:e[sd]?|ing)|doubt(?:s|ed|ing)?)\b{_WORDS}\s+"
    rf"|\b{_WRONG}\s+(?:that|to\s+{_SAY})\b{_WORDS}\s+"
    r"|(?:^|\s)(?:not|wrong|false|incorrect|rejected|excluded|never)\s*:\s*"
    r")[\s(=~-]*\Z"
)
_AFTER: Final = re.compile(
    r"[\s)]*(?:"
    r"(?:(?:is|was|are|do|does|did|can|could|will|would|should|must|may|has|have)\s*(?:n['\u2019]t|not|never)|cannot"
    r"|can['\u2019]t)\s+"
    rf"(?!(?:in\s+doubt|only|just|merely|certain|sure|final|guaranteed|verified|confirmed|far|{_WRONG})\b)"
    r"|(?:,?\s*which\s+)?(?:(?:is|was|are|be|being|seems?|looks?|sounds?|has\s+been)\b|[-\u2013\u2014:(?])\s*"
    rf"(?:\w+ly\s+|just\s+|all\s+)?(?:{_WRONG}|no|not\s+(?:it|this|so|that))\b"
    r")"
)
_AFFIRMED: Final = re.compile(
    rf"\b(?:(?:nothing|none|nobody|no\s+one|no)\s+(?:\w+\s+)?(?:but|other\s+than|except|besides)|(?:no|without|without\s+a|"
    rf"beyond|little)\s+doubt\b{_WORDS}|{_NOT}(?:be\s+)?(?:any\w+)\s+(?:but|other\s+than|except))\s+{_LINKS}[\s(=~-]*\Z"
)
"""What only looks like a denial: nothing but X, no doubt it is X."""
_CLAIM: Final = re.compile(r"\b(?:claim|statement|idea|assumption|suggestion|assertion|notion|that|hypothesis)\b")
_CLAIM_IS_WRONG: Final = re.compile(
    rf"\b(?:is|was|are|be|seems|sounds)\s+(?:\w+ly\s+)?(?:{_WRONG}|not\s+(?:true|right))\b"
)


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether the value between two places of a text is one of which the text says that it is not meant.

    A denial reaches no further than its clause. Words of confidence ("probably", "no doubt") deny nothing.
    """
    before = _MARKUP.sub(" ", text[max(0, start - _NEAR) : start].casefold())
    before = before[max((each.end() for each in _CLAUSE_END.finditer(before)), default=0) :]
    if _AFFIRMED.search(before):
        return False
    after = _MARKUP.sub(" ", text[end : end + _NEAR].casefold())
    if _BEFORE.search(before) or _AFTER.match(after):
        return True
    following = _CLAUSE_END.search(after)
    return bool(
        _CLAIM.search(before) and _CLAIM_IS_WRONG.search(after, 0, following.start() if following else len(after))
    )
