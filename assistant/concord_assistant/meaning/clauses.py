"""The clauses of a text, and the places that it denies, asks, supposes or takes back."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from concord_assistant.meaning.values import Found, find, normalised

REPLY_PREFIX: Final = re.compile(r"^\s*(re|aw|antw|sv)\s*(\[\d+\])?\s*:", re.IGNORECASE)
"""The beginning of a reply's subject, which the writer did not write."""

_QUOTE_HEAD: Final = re.compile(r"^\s*(?:On .{5,200} wrote:|-{2,}\s*Original Message\s*-{2,})\s*$", re.I)
_SENTENCE_END: Final = re.compile(
    r"(?<!\bno)(?<!\bmr)(?<!\bmrs)(?<!\bms)(?<!\bdr)(?<!\be\.g)(?<!\bi\.e)(?<!\bapprox)(?<!\bst)(?<!\bsr)"
    r"(?:[.!?;]+(?=\s|$)(?!\s+[a-z]{1,3}\.)|\n\s*\n|\n(?=\s*(?:[-•]|\d+[.)])\s)|(?<=[:,.!?;])\n|\n(?=[A-Z0-9])(?<![a-z]\n(?=I\b)))",
    re.I,
)
_LETTER: Final = re.compile(r"\w")

_VERB_START: Final = (
    r"please|kindly|we|i|i'm|i'll|we'll|it|it's|he|she|they|you|there|just|only|so|then|that|this|instead|cancel|order|"
    r"take|choose|chose|go|went|send|deliver|keep|leave|book|reserve|make|tell|let|ship|confirm|use|on|at|to|in|from|our|my|the|could|can|"
    r"would|what|when|which|how|do|need|have\s+to|must|declined|accepted|refused|rejected"
)
_BOUNDARY: Final = re.compile(
    rf"""\s-\s|(?<!\bold)(?<!\bformer)(?<!\bprevious):\s|\(|\)
    |(?<!\banything)(?<!\banywhere)(?<!\banyone)(?<!\bany\ time)(?<!\ball)
      (?<!\beverything),?\s+\b(?:but|however|yet|whereas|while|although
      |though|because|since|and(?=\s+(?:{_VERB_START}|not)\b)|so|therefore|hence)\b
    |,\s+(?:and\s+)?(?=(?:{_VERB_START})\b|(?-i:(?:[A-Z]\w*\s+){{1,4}})(?:is|was|are|were|has|have|will|moved|needs)\b)|,?\s+(?=please\b)|,\s+(?=not\b)|,\s+as\s+""",
    re.I | re.X,
)
"""Where a clause ends, and with it what a negation denies."""

_HARMLESS: Final = re.compile(
    r"""\b(?:no\ (?:problem|worries|rush|hurry|doubt|trouble|offence|bother|matter\ what)
    |no\ (?:later|earlier|more|less)\ than|(?:gave|give|giving|given)\ nothing\ away
    |not\ (?:only|just|a\ problem|(?:later|earlier|more|less)\ than|to\ worry|to\ mention)
    |(?:do\ not|don't|never)\ (?:hesitate|worry|forget\ to|be\ late|mind|fail\ to)
    |can(?:not|'t|\ not)\ wait|why\ (?:not|don't\ we)|without\ (?:(?:any\ )?delay|fail|further\ ado|doubt)|nothing\ else
    |(?:isn't|is\ not|not|wasn't)\ (?:feeling\ )?well
    |whether\ or\ not|or\ not|if\ not|no\ need\ to\ (?:reply|answer|respond|write\ back|call)
    |need\ not\ (?:reply|answer|respond)|(?:do\ not|don't)\ (?:have|need)\ to\ (?:reply|answer|respond)
    |if\ (?:at\ all\ )?possible
    |if\ (?:that|this|it)(?:'s|\ is)?\ (?:ok|okay|fine|possible|convenient|alright|all\ right|works?|suits?)
      (?:\ (?:for|with)?\ ?(?:you|everyone|everybody))?
    |if\ you\ (?:don't|do\ not|would\ not|wouldn't)\ mind|if\ you\ (?:have|need)\ (?:any|anything|more|further)[^.,;]*
    |if\ (?:there\ is|there's|anything\ is|you\ need)\ (?:any\ |a\ )?(?:problem|question|anything|unclear)\w*
    |if\ (?:i|we)\ (?:may|might|could)|if\ (?:so|you\ please|you\ would)
    |(?:grateful|delighted|glad|happy|obliged|great|good|nice|lovely|wonderful|pleased|appreciated?(?:\ it)?)\ if
    |(?:maybe|perhaps)\ (?:another|next|some\ other)\ time)\b""",
    re.I | re.X,
)
"""Words of negation and of condition that deny nothing and set no condition."""

_AUXILIARY: Final = (
    r"(?:do|does|did|is|are|was|were|will|would|can|could|shall|should|must|has|have|had|may|might|be|am|'m|'re|'s|'ll|"
    r"need|needs?\ to)"
)
_VERB_DENIED: Final = re.compile(
    rf"\b(?:{_AUXILIARY}\s+(?:\w+ly\s+|really\s+)?not|cannot|never|no\s+longer|nobody|no\s+one|nothing|none|hardly|by\s+no\s+means"
    rf"|under\s+no\s+circumstances?|in\s+no\s+way|unlikely|impossible|ruled\s+out|out\s+of\s+the\s+question"
    r"|(?:somebody|someone)\s+else\s+(?:will|is|has|can)|unable|(?:is|are|it's|that's)\s+(?:wrong|false|untrue|incorrect|out|off\s+the\s+table|a\s+lie)"
    r"|which\s+(?:\w+\s+){1,3}(?:declined|refused|rejected|turned\s+down))\b|\b(?:old|former|previous)\s*:|\w+n't\b",
    re.I,
)
"""Denies the whole clause, with its subject."""
_REST_DENIED: Final = re.compile(
    r"\b(?:not|no|neither|nor|without|far\s+from|any(?:thing|where|one|\s+time)\s+but|leave\s+out|(?:false|untrue|wrong)\s+that|"
    r"(?:have|has|'ve)\s+(?:left|closed|given\s+up|moved\s+(?:out\s+of|away\s+from)))\b",
    re.I,
)
"""Denies what follows in the clause."""
_PHRASE_DENIED: Final = re.compile(
    r"\b(?:instead\s+of|rather\s+than|other\s+than|except(?:\s+for)?|as\s+opposed\s+to|in\s+place\s+of|unlike)\b", re.I
)
"""Denies what follows up to a comma or a verb."""
_REFUSED: Final = re.compile(
    r"\b(?:turn\w*\s+(?:\w+\s+)?down|hold(?:ing)?\s+(?:off|back|(?:the|our|my)\s+order)|refus\w+|declin\w+|reject\w*|stop\w*|avoid\w*|refrain\w*|fail(?:ed|s)?\s+to|forbid\w*|den(?:y|ied)|doubt\w*|"
    r"forget(?:\s+about)?|regret\w*\s+to\s+(?:say|tell|inform))\b",
    re.I,
)
"""Verbs that deny what follows, unless refusing is what is to be said."""
_CALLED_OFF: Final = re.compile(
    r"\b(?:is|are|was|were|been|be|am|'m|'s|'re)\s+(?:\w+ly\s+)?(?:cancell?ed|called\s+off|off|busy|unavailable|"
    r"booked\s+out|occupied|engaged|taken|dropped|closed|shut|postponed|full(?!\s+(?:of|apart|except|but))|sold\s+out)\b(?!\s+(?:under|with|to|from|until)\b)|\bon\s+hold\b|"
    r"\b(?:i|we)(?:'m|'re|\s+am|\s+are)\s+(?:fully\s+)?booked\b",
    re.I,
)
"""Words by which a clause says that its values do not hold, unless that is what is to be said."""
_ALL_BUT: Final = re.compile(r"\b(?:all|everything|everyone)\s+(?:but|except|apart\s+from)\b", re.I)
_BUT: Final = re.compile(r"\b(?:but|however|yet|although|though)\s*$", re.I)
_PHRASE_END: Final = re.compile(r",|\b(?:is|are|was|were|will|would|it|we|i|please)\b", re.I)

_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|whether|(?<!writing\sto\s)let\s+you\s+know(?!\s+that)|get\s+back\s+to\s+you|maybe|perhaps|possibly|probably|might(?!\s+(?:i|we)\b)|in\s+case|suppos\w+|assum\w+|hypothetical\w*|(?<!please\s)consider\w*|"
    r"think\w*\s+(?:about|of)|thinking|not\s+(?:yet\s+)?sure|unsure|undecided|uncertain|(?:would|could|should|might|'d)\s+have\b(?!\s+(?:a|an|the|to|you|it)\b)|wanted\s+to\s+(?!let|say|ask|confirm|tell|inform|thank)|"
    r"(?:i|we)\s+(?:tried|asked\s+for|requested)|"
    r"(?:was|were|am|are)\s+going\s+to\s+(?!be\b)\w+\s+but|had\s+planned|had\s+wanted|wish(?!\s+(?:to|you))|hop(?:e|ing)\s+(?:to\s+(?!hear|see|get)|(?:that|the|it)\b)|"
    r"another\s+time|next\s+time|some\s+other\s+time|in\s+(?:the\s+)?future|some\s?day|either|roughly|approximately|approx|"
    r"subject\s+to|pending|as\s+if|(?:let's|just|only)\s+pretend|pretend\s+(?:that|i|we)|depending|or\s+so|give\s+or\s+take|tentative\w*|without\s+obligation|non-?binding|provisional\w*|(?:i|we|it|they|he|she|there)\s+may|"
    r"(?<!you\s)may\s+(?:have|be|not|well|still|yet)|you\s+could\s+(?:meet|have|be)|(?:before|until|once)\s+(?:we|i)\b)\b",
    re.I,
)
_ALL_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|in\s+case|suppos\w+|assum\w+|(?:has|have)\s+(?:not|yet\s+to)\s+(?:yet\s+)?(?:answer|confirm|repl(?:y|ied)|"
    r"respond|agree|decide|check)\w*|(?:is|has|have)\s+yet\s+to|"
    r"(?:will|'ll)\s+(?:confirm|order|decide|cancel|book|accept|reserve)\b[^.!?]*\b(?:later|tomorrow|soon|when|once)|nothing\s+is\s+(?:settled|decided|final))\b|^\W*(?:perhaps|maybe|possibly|probably)\s*[:,-]"
    r"|^\W*should\s+(?:you|we|i|it|they|there|the)\b(?!.*\?)",
    re.I,
)
"""Words by which a whole sentence only supposes."""
_REQUEST: Final = re.compile(
    r"\b(?:can|could|would|will(?!\s+you\s+be\b)|may|might)\s+(?:you|we|i)\b(?!\s+(?:(?:confirm\s+)?(?:whether|if)))|\bwould\s+it\s+be\s+possible\b|"
    r"\bis\s+it\s+possible\b|\bdo\s+you\s+mind\b|\bplease\b|\bwould\s+you\s+mind\b|\bany\s+chance\b|\bwhy\s+(?:don't|not)\b",
    re.I,
)
_HOW: Final = re.compile(r"\W*(?:how|when|where|what|which|why|who)\b(?!\s+(?:about|don't))", re.I)
"""A question that begins so asks for something and requests nothing else."""
_ASKS: Final = re.compile(r"\W*(?:how\s+(?:much|many|long)|what(?!\s+(?:we|i)\b)|when|which)\b", re.I)
_SUGGESTED: Final = re.compile(
    r"\b(?:shall\s+we|should\s+we|(?:does|would|will|could|can|is|how\s+about|what\s+about)\b.*\b(?:suit|work|fit|possible|ok|okay|"
    r"fine|convenient|good|do|meet|make\s+it)|how\s+about|what\s+about)\b",
    re.I | re.S,
)
"""A question that proposes its values."""

_TAKEN_BACK: Final = re.compile(
    r"""\b(?:the\ (?:opposite|reverse|contrary)\b
    |(?:ignore|disregard|forget)\ (?:this|that|everything|all|anything|it\b|whatever|what\s|
      the\ (?:following|above|below|rest|text|sentence|next))
    |(?:this|that|it|which|everything|all|none|nothing|following|above|below|rest|next)\b[^.!?\n]{0,40}\b(?:is|are|was)\s
      (?:all\ |completely\ |totally\ |just\ |simply\ )?
      (?:not\ (?:true|right|correct|the\ case|meant|serious)|untrue|false|a\ lie|lies|a\ joke|nonsense|incorrect|
      invented|made\ up|fake|fiction)
    |(?:just|only)\ (?:kidding|joking)|april\ fool
    |(?:do\ not|don't|never)\ (?:believe|trust|take\ (?:this|that|it)\ serious\w*)
    |(?:i|we)\ (?:do\ not|don't|didn't)\ (?:really\ )?mean\b|not\ (?:really|true|so)\b(?=\s*[.!?])
    |(?:i|we)\ (?:refuse|lie|lied)\b(?!\ to\b)|(?:to|on)\ the\ contrary|strike\ that
    |changed\ (?:my|our)\ mind
    |nothing\ of\ (?:this|that|the)|none\ of\ (?:this|that|the\ following|it)|so-called|the\ following\ is\b
    |(?:not|n't)\ (?:the\ case|true)\ that|false:|wrong:|lie:)""",
    re.I | re.X,
)
"""Words by which a text takes back, or turns around, what it says."""
_NO: Final = re.compile(r"\W*(?:(?:dear|hello|hi|good)\b[^\n,]{0,60},\s*)?(?:no|nope|nay|never)\b\s*[,.!:;-]", re.I)
_HEDGE: Final = re.compile(
    r"\W*(?:perhaps|maybe|possibly|probably|not\s+sure|hypothetically|tentatively)\s*[:.-]", re.I
)
"""A beginning by which a text leaves open all that it says."""
_OWN_EARLIER: Final = re.compile(
    r"\b(?:ignore|disregard|forget)\b[^.!?\n]{0,20}\b(?:last|previous|earlier|first|other)\s+"
    r"(?:e-?mail|message|mail|text|order|note)",
    re.I,
)
_CORRECTED: Final = re.compile(
    r"\b(?:i\s+mean(?:t)?|i\s+should\s+say|correction|make\s+that|scratch\s+that|no,?\s+wait|wait,?\s+no|"
    r"sorry,\s+(?:no|not\s+\S+))\b",
    re.I,
)
_FORMER: Final = re.compile(
    r"\b(?:originally|previously|formerly|initially|old|former|used\s+to\s+be|(?:was|were)\s+(?:due|planned|scheduled|expected|supposed|meant)|so\s+far|(?:until|up\s+to)\s+now)\b",
    re.I,
)
_MOVED: Final = re.compile(
    r"\b(?:mov\w+|chang\w+|postpon\w+|shift\w*|delay\w*|slip\w*|push\w*|resched\w+|slid\w*|later|late|put\s+(?:off|back)|brought|"
    r"corrected)\b",
    re.I,
)
_TO: Final = re.compile(r"\s*(?:-|to|until|till|through)\s*(?:the\s+)?", re.I)
_FROM: Final = re.compile(r"\bfrom\s+(?:the\s+)?$", re.I)
_AFTER: Final = re.compile(r"\b(?:after|past|(?<!no\s)later\s+than|since)\s+(?:the\s+)?$", re.I)
_BETWEEN: Final = re.compile(r"\bbetween\s+$", re.I)
_OR: Final = re.compile(r"[\w\s,:%£€$-]{0,30}?[\s,/](?:or|and/or|/|maybe|perhaps)\s[\w\s£€$-]{0,25}", re.I)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence that asserts, asks or supposes. `at` and `end` are places in the text."""

    sentence: int
    at: int
    end: int
    text: str
    question: bool
    """Whether it stands in a question."""
    requested: bool
    """Whether that question is a request."""
    proposed: bool
    """Whether that question proposes something."""
    supposed: bool

    @property
    def asks(self) -> bool:
        """Whether it asks, with a question mark or without one."""
        return self.question or _ASKS.match(self.text) is not None


@dataclass(frozen=True, slots=True)
class Spans:
    """Places of a text from a beginning to an end."""

    spans: tuple[tuple[int, int], ...]

    def __contains__(self, at: object) -> bool:
        """Whether a place is in one of them."""
        return isinstance(at, int) and any(start <= at < end for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text, read."""

    text: str
    marked: str
    """The text, with underscores for words of negation and condition that deny nothing and set no condition."""
    clauses: tuple[Clause, ...]
    values: tuple[Found, ...]
    denied: Spans
    refused: Spans
    """What verbs of refusal deny."""
    called_off: Spans
    """Clauses that say that something does not take place."""
    restricted: Spans
    """Clauses that the next one in the sentence restricts: "…, but I will not be there"."""
    former: Spans
    """Values that the text gives as replaced ones."""
    open_ended: Spans
    """The ends of ranges: "to 16:45"."""
    alternative: Spans
    """Values between which the text does not decide."""
    taken_back: bool
    """Whether the text takes back what it says."""
    begins_with_no: bool
    hedged: bool
    """Whether the text begins with words that leave open what it says."""

    @property
    def is_uncertain(self) -> bool:
        """Whether the text as a whole takes back, denies or leaves open what it says."""
        return self.taken_back or self.begins_with_no or self.hedged

    def clause_of(self, at: int) -> Clause | None:
        """The clause at a place."""
        return next((each for each in self.clauses if each.at <= at < each.end), None)


def own_lines(text: str) -> str:
    """A message without the messages that it quotes."""
    lines: list[str] = []
    for line in text.splitlines():
        if _QUOTE_HEAD.match(line):
            break
        if not line.lstrip().startswith(">"):
            lines.append(line)
    return "\n".join(lines)


def read(text: str) -> Reading:
    """Reads a text, without what it quotes of other messages."""
    plain = normalised(own_lines(text))
    marked = _HARMLESS.sub(lambda found: "_" * len(found[0]), plain)
    sentences = list(_sentences(plain))
    clauses = tuple(each for number, span in enumerate(sentences) for each in _clauses(plain, marked, number, span))
    values = tuple(find(plain))
    former, ends = _changes(plain, clauses, values)
    return Reading(
        plain,
        marked,
        clauses,
        values,
        Spans(tuple(_denied(marked, clauses))),
        Spans(tuple(_refused(marked, clauses))),
        Spans(tuple((each.at, each.end) for each in clauses if _CALLED_OFF.search(marked, each.at, each.end))),
        Spans(tuple(_restricted(plain, marked, clauses, values))),
        Spans(tuple(former)),
        Spans(tuple(ends)),
        Spans(tuple(_alternatives(plain, values))),
        _TAKEN_BACK.search(plain) is not None and _OWN_EARLIER.search(plain) is None,
        _NO.match(plain) is not None,
        _HEDGE.match(plain) is not None,
    )


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    for at, end in pairwise([0, *ends, len(text)]):
        if _LETTER.search(text, at, end):
            yield at, end


def _clauses(text: str, marked: str, number: int, span: tuple[int, int]) -> Iterator[Clause]:
    at, end = span
    whole = marked[at:end]
    question = text[at:end].rstrip().endswith("?")
    requested = question and _REQUEST.search(whole) is not None and _HOW.match(whole) is None
    proposed = question and _SUGGESTED.search(whole) is not None
    supposed = _ALL_SUPPOSED.search(whole) is not None
    cuts = [match.end() for match in _BOUNDARY.finditer(text, at, end)]
    for start, stop in pairwise([at, *cuts, end]):
        if _LETTER.search(text, start, stop):
            part = marked[start:stop]
            yield Clause(
                number,
                start,
                stop,
                text[start:stop],
                question,
                requested,
                proposed,
                supposed or _SUPPOSED.search(part) is not None,
            )


def _denied(marked: str, clauses: tuple[Clause, ...]) -> Iterator[tuple[int, int]]:
    for clause in clauses:
        part = marked[clause.at : clause.end]
        if _VERB_DENIED.search(part):
            yield clause.at, clause.end
        elif (found := _REST_DENIED.search(part)) is not None and not _interjection(part, found):
            yield clause.at + found.start(), clause.end
        for phrase in _PHRASE_DENIED.finditer(part):
            end = _PHRASE_END.search(part, phrase.end())
            yield clause.at + phrase.start(), clause.at + (end.start() if end else len(part))


def _interjection(part: str, found: re.Match[str]) -> bool:
    """Whether "no" stands alone at the beginning of a sentence."""
    rest = part[found.end() :].lstrip(" ")
    return found[0].casefold() == "no" and (not rest or rest[0] in ",.!:;")


def _restricted(
    text: str, marked: str, clauses: tuple[Clause, ...], values: tuple[Found, ...]
) -> Iterator[tuple[int, int]]:
    """What "all but" excepts, and the clauses before a "but" with a clause that denies or calls off without a value."""
    for clause in clauses:
        if found := _ALL_BUT.search(text, clause.at, clause.end):
            yield found.start(), clause.end
    for one, other in pairwise(clauses):
        if one.sentence != other.sentence or _BUT.search(text, one.at, other.at) is None:
            continue
        opposes = _VERB_DENIED.search(marked, other.at, other.end) or _CALLED_OFF.search(marked, other.at, other.end)
        if opposes and not any(other.at <= each.at < other.end for each in values):
            yield one.at, one.end


def _refused(marked: str, clauses: tuple[Clause, ...]) -> Iterator[tuple[int, int]]:
    for clause in clauses:
        if (found := _REFUSED.search(marked, clause.at, clause.end)) is not None:
            yield found.start(), clause.end


def _changes(
    text: str, clauses: tuple[Clause, ...], values: tuple[Found, ...]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The values that a text gives as replaced ones, and the ends of ranges."""
    former, ends = list[tuple[int, int]](), list[tuple[int, int]]()
    for clause in clauses:
        for cue in _FORMER.finditer(text, clause.at, clause.end):
            former += [(each.at, each.end) for each in values if cue.end() <= each.at < clause.end][:1]
    for correction in _CORRECTED.finditer(text):
        since = max((each.at for each in clauses if each.at <= correction.start()), default=0)
        sentence = next((each.sentence for each in clauses if each.at == since), 0)
        first = min((each.at for each in clauses if each.sentence >= sentence - 1), default=0)
        former += [(each.at, each.end) for each in values if first <= each.at < correction.start()]
    for value in values:
        if value.kind in {"date", "time", "weekday"} and _AFTER.search(text, max(0, value.at - 20), value.at):
            ends.append((value.at, value.end))
    for one, other in pairwise(values):
        between = text[one.end : other.at]
        if one.kind != other.kind:
            continue
        if _TO.fullmatch(between):
            around = next((each.text for each in clauses if each.at <= one.at < each.end), "")
            if _FROM.search(text, max(0, one.at - 20), one.at) and _MOVED.search(around):
                former.append((one.at, one.end))
            else:
                ends.append((other.at, other.end))
        elif one.kind != "number" and "and" in between and _is_between(text, one):
            ends.append((other.at, other.end))
    return former, ends


def _is_between(text: str, value: Found) -> bool:
    """Whether "between" stands before a value."""
    return _BETWEEN.search(text, max(0, value.at - 20), value.at) is not None


def _alternatives(text: str, values: tuple[Found, ...]) -> Iterator[tuple[int, int]]:
    """The values of one kind between which the text does not decide. Values of other kinds may stand with them."""
    for kind in {each.kind for each in values}:
        for one, other in pairwise([each for each in values if each.kind == kind]):
            between = text[one.end : other.at]
            within = kind == "number" and "and" in between and _is_between(text, one)
            if within or _OR.fullmatch(between):
                yield one.at, one.end
                yield other.at, other.end
