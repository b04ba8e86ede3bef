"""The words by which a text ends a clause, denies, supposes, asks, or takes back what it says."""

import re
from typing import Final

SENTENCE_END: Final = re.compile(
    r"(?<!\bno)(?<!\bmr)(?<!\bmrs)(?<!\bms)(?<!\bdr)(?<!\be\.g)(?<!\bi\.e)(?<!\bapprox)(?<!\bst)(?<!\bsr)"
    r"(?:[.!?;]+(?=\s|$)(?!\s+[a-z]{1,3}\.)|\n\s*\n|\n(?=\s*(?:[-•]|\d+[.)])\s)|(?<=[:,.!?;])\n|\n(?=[A-Z0-9])(?<![a-z]\n(?=I\b)))",
    re.I,
)
LETTER: Final = re.compile(r"\w")

_VERB_START: Final = (
    r"please|kindly|we|i|i'm|i'll|we'll|it|it's|he|she|they|you|there|just|only|so|then|that|this|instead|cancel|order|"
    r"take|choose|chose|go|went|send|deliver|keep|leave|book|reserve|make|tell|let|ship|confirm|use|on|at|to|in|from|our|my|the|could|can|"
    r"would|what|when|which|how|do|need|have\s+to|must|declined|accepted|refused|rejected"
)
BOUNDARY: Final = re.compile(
    rf"""\s-\s|(?<!\bold)(?<!\bformer)(?<!\bprevious):\s|\(|\)
    |(?<!\banything)(?<!\banywhere)(?<!\banyone)(?<!\bany\ time)(?<!\ball)
      (?<!\beverything),?\s+\b(?:but|however|yet|whereas|while|although
      |though|because|since|and(?=\s+(?:{_VERB_START}|not)\b)|so|therefore|hence)\b
    |,\s+(?:and\s+)?(?=(?:{_VERB_START})\b|(?-i:(?:[A-Z]\w*\s+){{1,4}})(?:is|was|are|were|has|have|will|moved|needs)\b)|,?\s+(?=please\b)|,\s+(?=not\b)|,\s+as\s+""",
    re.I | re.X,
)
"""Where a clause ends, and with it what a negation denies."""

HARMLESS: Final = re.compile(
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
VERB_DENIED: Final = re.compile(
    rf"\b(?:{_AUXILIARY}\s+(?:\w+ly\s+|really\s+)?not|cannot|never|no\s+longer|nobody|no\s+one|nothing|none|hardly|by\s+no\s+means"
    rf"|under\s+no\s+circumstances?|in\s+no\s+way|unlikely|impossible|ruled\s+out|out\s+of\s+the\s+question"
    r"|(?:somebody|someone)\s+else\s+(?:will|is|has|can)|unable|(?:is|are|it's|that's)\s+(?:wrong|false|untrue|incorrect|out|off\s+the\s+table|a\s+lie)"
    r"|which\s+(?:\w+\s+){1,3}(?:declined|refused|rejected|turned\s+down))\b|\b(?:old|former|previous)\s*:|\w+n't\b",
    re.I,
)
"""Denies the whole clause, with its subject."""
REST_DENIED: Final = re.compile(
    r"\b(?:not|no|neither|nor|without|far\s+from|any(?:thing|where|one|\s+time)\s+but|leave\s+out|(?:false|untrue|wrong)\s+that|"
    r"(?:have|has|'ve)\s+(?:left|closed|given\s+up|moved\s+(?:out\s+of|away\s+from)))\b",
    re.I,
)
"""Denies what follows in the clause."""
PHRASE_DENIED: Final = re.compile(
    r"\b(?:instead\s+of|rather\s+than|other\s+than|except(?:\s+for)?|as\s+opposed\s+to|in\s+place\s+of|unlike)\b", re.I
)
"""Denies what follows up to a comma or a verb."""
REFUSED: Final = re.compile(
    r"\b(?:turn\w*\s+(?:\w+\s+)?down|hold(?:ing)?\s+(?:off|back|(?:the|our|my)\s+order)|refus\w+|declin\w+|reject\w*|stop\w*|avoid\w*|refrain\w*|fail(?:ed|s)?\s+to|forbid\w*|den(?:y|ied)|doubt\w*|"
    r"forget(?:\s+about)?|regret\w*\s+to\s+(?:say|tell|inform))\b",
    re.I,
)
"""Verbs that deny what follows, unless refusing is what is to be said."""
CALLED_OFF: Final = re.compile(
    r"\b(?:is|are|was|were|been|be|am|'m|'s|'re)\s+(?:\w+ly\s+)?(?:cancell?ed|called\s+off|off|busy|unavailable|"
    r"booked\s+out|occupied|engaged|taken|dropped|closed|shut|postponed|full(?!\s+(?:of|apart|except|but))|sold\s+out)\b(?!\s+(?:under|with|to|from|until)\b)|\bon\s+hold\b|"
    r"\b(?:i|we)(?:'m|'re|\s+am|\s+are)\s+(?:fully\s+)?booked\b",
    re.I,
)
"""Words by which a clause says that its values do not hold, unless that is what is to be said."""
ALL_BUT: Final = re.compile(r"\b(?:all|everything|everyone)\s+(?:but|except|apart\s+from)\b", re.I)
BUT: Final = re.compile(r"\b(?:but|however|yet|although|though)\s*$", re.I)
PHRASE_END: Final = re.compile(r",|\b(?:is|are|was|were|will|would|it|we|i|please)\b", re.I)

SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|whether|(?<!writing\sto\s)let\s+you\s+know(?!\s+that)|get\s+back\s+to\s+you|maybe|perhaps|possibly|probably|might(?!\s+(?:i|we)\b)|in\s+case|suppos\w+|assum\w+|hypothetical\w*|(?<!please\s)consider\w*|"
    r"think\w*\s+(?:about|of)|thinking|not\s+(?:yet\s+)?sure|unsure|undecided|uncertain|(?:would|could|should|might|'d)\s+have\b(?!\s+(?:a|an|the|to|you|it)\b)|wanted\s+to\s+(?!let|say|ask|confirm|tell|inform|thank)|"
    r"(?:i|we)\s+(?:tried|asked\s+for|requested)|"
    r"(?:was|were|am|are)\s+going\s+to\s+(?!be\b)\w+\s+but|had\s+planned|had\s+wanted|wish(?!\s+(?:to|you))|hop(?:e|ing)\s+(?:to\s+(?!hear|see|get)|(?:that|the|it)\b)|"
    r"another\s+time|next\s+time|some\s+other\s+time|in\s+(?:the\s+)?future|some\s?day|either|roughly|approximately|approx|"
    r"subject\s+to|pending|as\s+if|(?:let's|just|only)\s+pretend|pretend\s+(?:that|i|we)|depending|or\s+so|give\s+or\s+take|tentative\w*|without\s+obligation|non-?binding|provisional\w*|(?:i|we|it|they|he|she|there)\s+may|"
    r"(?<!you\s)may\s+(?:have|be|not|well|still|yet)|you\s+could\s+(?:meet|have|be)|(?:before|until|once)\s+(?:we|i)\b)\b",
    re.I,
)
ALL_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|in\s+case|suppos\w+|assum\w+|(?:has|have)\s+(?:not|yet\s+to)\s+(?:yet\s+)?(?:answer|confirm|repl(?:y|ied)|"
    r"respond|agree|decide|check)\w*|(?:is|has|have)\s+yet\s+to|"
    r"(?:will|'ll)\s+(?:confirm|order|decide|cancel|book|accept|reserve)\b[^.!?]*\b(?:later|tomorrow|soon|when|once)|nothing\s+is\s+(?:settled|decided|final))\b|^\W*(?:perhaps|maybe|possibly|probably)\s*[:,-]"
    r"|^\W*should\s+(?:you|we|i|it|they|there|the)\b(?!.*\?)",
    re.I,
)
"""Words by which a whole sentence only supposes."""
REQUEST: Final = re.compile(
    r"\b(?:can|could|would|will(?!\s+you\s+be\b)|may|might)\s+(?:you|we|i)\b(?!\s+(?:(?:confirm\s+)?(?:whether|if)))|\bwould\s+it\s+be\s+possible\b|"
    r"\bis\s+it\s+possible\b|\bdo\s+you\s+mind\b|\bplease\b|\bwould\s+you\s+mind\b|\bany\s+chance\b|\bwhy\s+(?:don't|not)\b",
    re.I,
)
HOW: Final = re.compile(r"\W*(?:how|when|where|what|which|why|who)\b(?!\s+(?:about|don't))", re.I)
"""A question that begins so asks for something and requests nothing else."""
ASKS: Final = re.compile(r"\W*(?:how\s+(?:much|many|long)|what(?!\s+(?:we|i)\b)|when|which)\b", re.I)
SUGGESTED: Final = re.compile(
    r"\b(?:shall\s+we|should\s+we|(?:does|would|will|could|can|is|how\s+about|what\s+about)\b.*\b(?:suit|work|fit|possible|ok|okay|"
    r"fine|convenient|good|do|meet|make\s+it)|how\s+about|what\s+about)\b",
    re.I | re.S,
)
"""A question that proposes its values."""

TAKEN_BACK: Final = re.compile(
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
NO: Final = re.compile(r"\W*(?:(?:dear|hello|hi|good)\b[^\n,]{0,60},\s*)?(?:no|nope|nay|never)\b\s*[,.!:;-]", re.I)
HEDGE: Final = re.compile(r"\W*(?:perhaps|maybe|possibly|probably|not\s+sure|hypothetically|tentatively)\s*[:.-]", re.I)
"""A beginning by which a text leaves open all that it says."""
OWN_EARLIER: Final = re.compile(
    r"\b(?:ignore|disregard|forget)\b[^.!?\n]{0,20}\b(?:last|previous|earlier|first|other)\s+"
    r"(?:e-?mail|message|mail|text|order|note)",
    re.I,
)
CORRECTED: Final = re.compile(
    r"\b(?:i\s+mean(?:t)?|i\s+should\s+say|correction|make\s+that|scratch\s+that|no,?\s+wait|wait,?\s+no|"
    r"sorry,\s+(?:no|not\s+\S+))\b",
    re.I,
)
FORMER: Final = re.compile(
    r"\b(?:originally|previously|formerly|initially|old|former|used\s+to\s+be|(?:was|were)\s+(?:due|planned|scheduled|expected|supposed|meant)|so\s+far|(?:until|up\s+to)\s+now)\b",
    re.I,
)
MOVED: Final = re.compile(
    r"\b(?:mov\w+|chang\w+|postpon\w+|shift\w*|delay\w*|slip\w*|push\w*|resched\w+|slid\w*|later|late|put\s+(?:off|back)|brought|"
    r"corrected)\b",
    re.I,
)
TO: Final = re.compile(r"\s*(?:-|to|until|till|through)\s*(?:the\s+)?", re.I)
FROM: Final = re.compile(r"\bfrom\s+(?:the\s+)?$", re.I)
AFTER: Final = re.compile(r"\b(?:after|past|(?<!no\s)later\s+than|since)\s+(?:the\s+)?$", re.I)
BETWEEN: Final = re.compile(r"\bbetween\s+$", re.I)
OR: Final = re.compile(r"[\w\s,:%£€$-]{0,30}?[\s,/](?:or|and/or|/|maybe|perhaps)\s[\w\s£€$-]{0,25}", re.I)
