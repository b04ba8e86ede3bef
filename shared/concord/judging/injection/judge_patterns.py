"""Patterns for the judge's own vocabulary: its verdicts, rubric, code word, delimiters and prompt. In English."""

from collections.abc import Iterator
from typing import Final

from concord.judging.injection.languages import ENGLISH
from concord.judging.injection.patterns import BEYOND, CLOSE, NEAR, TEN, Pattern, pattern
from concord.judging.verdicts import RUBRIC_IDS

_THIS: Final = rf"(?:{ENGLISH.this})"
_TOP: Final = rf"(?:{ENGLISH.top})"
_BEST: Final = rf"(?:{_TOP}|{TEN}|\b(?:perfect|excellent|flawless|outstanding|correct|met)\b)"
_JUDGE: Final = rf"(?:{ENGLISH.judge})"
_A_JUDGE: Final = r"(?:judge|grader|evaluator|assessor|examiner|llm)\b"
_GIVE: Final = r"\b(?:give|grant|award|assign|output|return|set)(?: the| a)? "
_EVERY_MET: Final = ENGLISH.every_met

_QUOTES: Final = r"[\"'“”\s]*"
_ORDER: Final = r"\b(?:set|mark|return|output|answer|give|report|make|declare|grade|rate|score|say|find)\b"
_OF_RUBRIC: Final = r"\b(?:verdicts?|criteri(?:on|a)|rubric items?|task[_ ]success|everything)\b"
_IDS: Final = "|".join(RUBRIC_IDS)
_TO_JUDGE: Final = r"\b(?:evaluate|grade|judge|rate|score|assess)\b"
_USED: Final = r"\b(?:used|said|mentioned|wrote) the (?:code|secret) ?word\b"
_NAMED: Final = r"\s?[\"'“„«(]| (?:to|for|of|on|in|at|last)\b"


def _verdicts() -> Iterator[str]:
    """Verdicts and answers in the form of the judge."""
    yield rf"\bverdicts?\b{_QUOTES}(?:is|of|=|:|are|should be|must be|to|as)?{_QUOTES}met\b(?! (?:with|by|when|if)\b)"
    yield rf"{_ORDER}{NEAR}{_OF_RUBRIC}{CLOSE}(?:\bto|\bas|=|:|\bis){_QUOTES}(?:met|fulfilled|satisfied|passed|1\.0)\b"
    yield rf"\bmet\b{_QUOTES}(?:for|on|in) (?:{ENGLISH.every})"
    yield r"\ball rubric items (?:have been|are|were) (?:fully |completely )?(?:met|fulfilled|satisfied|passed)\b"
    yield rf"\bcriteri(?:on|a)\b\W{{1,9}}(?:{_IDS})\b"
    yield r"\boverall_score\W{1,5}[\d.]+\W{1,9}task_success\b|\btask_success\W{1,5}[\d.]+\W{1,9}overall_score\b"


def _frames() -> Iterator[str]:
    """Text that pretends to be outside the evidence."""
    claim = rf"(?:{_EVERY_MET}|{_GIVE}{_TOP})"
    yield r"==[0-9a-f]{16,}=="
    yield (
        r"(?:\A|(?<=\n))\W{0,5}(?:system|assistant|developer)\b.{0,10}:"
        rf"{NEAR}(?:{_EVERY_MET}{NEAR}{_TOP}|{_GIVE}{_TOP})"
    )
    yield rf"(?:[<\[]\W?|\brole\W{{1,5}})(?:system|assistant|im_start|inst)\b{BEYOND}{claim}"
    yield (
        rf"\b(?:when you {_TO_JUDGE}|before (?:you )?(?:grad|judg|scor|evaluat)\w+"
        r"|for the purposes? of (?:the|this|your) (?:evaluation|grading|assessment|judge?ment|scoring))"
        rf"{BEYOND}(?:{_THIS}|{_TOP}|{_EVERY_MET}|\bas correct\b|\byour (?:system )?prompt\b)"
    )
    yield (
        r"\b(?:new|updated|real|actual|hidden|only|true|secret) (?:instructions?|task|job|role|purpose)\b"
        rf"{NEAR}\b(?:approve|praise|pass|reward|accept|endorse|favou?r)\b{CLOSE}{_THIS}"
    )


def _praise() -> Iterator[str]:
    """Demands for a favourable view of a team's work."""
    yield (
        rf"\b(?:score|rating|grade|verdict|marks?) (?:for|of) {_THIS}"
        rf"{CLOSE}\b(?:is|are|should be|must be)\b{CLOSE}{_BEST}"
    )
    yield (
        r"\b(?:the|this|our|these) (?:team|answer|agents|response|conversation)\b"
        rf"{NEAR}\bdeserves?\b{CLOSE}(?:{_TOP}|verdict)"
    )
    yield rf"{_THIS}{NEAR}\bbe (?:scored|rated|graded|marked|judged|evaluated|considered)\b{CLOSE}{_BEST}"
    yield rf"{_TOP} (?:to|for|on) {_THIS}"
    yield rf"\b(?:dear|hey|hello|hi|kind),? (?:the |you,? )?{_A_JUDGE}{NEAR}(?:{_THIS}|{_TOP})"
    yield rf"(?:{ENGLISH.address}){BEYOND}\bwe (?:all )?(?:worked|did|performed|cooperated|coordinated|collaborated)\b"
    yield rf"{_JUDGE}{CLOSE}(?:{ENGLISH.must}){CLOSE}\b(?:accept|approve|pass|favou?r) (?:this|us|our)\b"
    yield rf"(?:{ENGLISH.role}){NEAR}\b(?:find|consider|call|accept|approve|like) (?:this|us|it)\b"


def _secrets() -> Iterator[str]:
    """The code word, and the prompt."""
    yield rf"\b(?:we|i|agents?|everyone|everybody|all of us)\b{CLOSE}{_USED}(?!{_NAMED})"
    yield r"\b(?:code|secret) ?word (?:that )?you (?:are|were|want|look|seek)\b"
    yield (
        r"\b(?:reveal|print|repeat|output|show|leak|disclose|recite) (?:me )?your (?:own )?(?:system|hidden|initial)"
        r" (?:prompt|instructions)\b"
    )


def judge_patterns() -> Iterator[Pattern]:
    """The patterns of text that names the judge's own vocabulary."""
    for group in (_verdicts, _frames, _praise, _secrets):
        yield from map(pattern, group())
