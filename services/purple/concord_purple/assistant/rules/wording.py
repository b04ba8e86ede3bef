"""The wordings of tasks: patterns of sentences, and the words that say what a text is about."""

import re
from typing import Final

SENTENCE: Final = re.compile(r"(?<=[.!?])[\"”']?\s+(?=[A-Z0-9\"“-])|\n+\s*(?:[-*•]|\d+[.)])?\s*")
STATED: Final = (
    (re.compile(r"([^,;:]+?) (?:should )?(?:go|belong)(?:es|s)? (?:in)?to the archive", re.I), r"archive \1"),
    (re.compile(r",? (?:and )?([^,;:]+?) (?:should )?gets? a star\b", re.I), r", and star \1"),
    (re.compile(r"^(.+?) should be (?:in|on) (?:my|the) calendar", re.I), r"put \1 into my calendar"),
)
"""Wishes about emails that are stated and not ordered, and the orders that they mean."""
QUOTED: Final = re.compile(r"[\"“]([^\"”]{1,300})[\"”]")
NEGATED: Final = re.compile(
    r"^(please )?(do not|don't|never|nothing|no need|leave|keep)\b|^\w+ (?:nothing|nobody)\b", re.I
)
CONDITION: Final = re.compile(r"^(?:please )?(?:when|once|after|as soon as|if) ([^,]{1,120}),\s*", re.I)
WAIT: Final = re.compile(
    r"\bwait\b.*\b(?:answer|repl|respon|heard)|"
    r"\b(?:before|until) (?:all|both|every\w+|they)\b[^,]*\b(?:answer|repl|respond)|"
    r"\b(?:when|once|after|as soon as)\b[^,]*\b(?:all|both|everybody|everyone|they|three|two|four)\b[^,]*"
    r"\b(?:answer|repl|respond)",
    re.I,
)
"""What follows depends on the answers of several people."""
CONSENT: Final = re.compile(r"\b(agree|confirm|accept|answer|repl|says? yes|said yes|ok)", re.I)
_VERBS: Final = (
    "accept|add|answer|archive|ask|block|book|cancel|check|confirm|create|decline|delete|email|enter|file|find|forward|"
    "give|go|inform|invite|label|let|look|mark|move|order|pass|plan|propose|put|read|remind|remove|reply|reschedule|"
    "respond|schedule|see|send|set|star|suggest|tag|tell|text|thank|trash|turn|write"
)
_LEAD: Final = (
    r"(?:please |then |also |finally |next |now |and |briefly |immediately |afterwards,? |after that,? |"
    r"(?:could|can|would|will) you (?:please )?|i (?:want|need|would like|'d like) you to )*"
)
COMMAND: Final = re.compile(rf"^{_LEAD}(?:{_VERBS})\b", re.I)
"""An order: a verb at the beginning, perhaps after polite words."""
SPLIT: Final = re.compile(rf"(?:,? and|,) (?={_LEAD}(?:{_VERBS})\b(?! (?:and|or|of|from)\b))|; ", re.I)
ME: Final = re.compile(
    r"\b(?:tell|let|inform|report to|write|message|confirm to|send|give) me\b|\breport\b|\bsum up\b|\bmessage to me\b",
    re.I,
)
FREE: Final = re.compile(r"\b(free|available)\b|\b(find|propose|suggest|offer)\b.*\b(time|slot)", re.I)
SAY: Final = re.compile(
    r"\b(write|reply|answer|respond|tell|email|e-mail|text|let|inform|ask|thank|send|propose|suggest|offer|find|sms)\b",
    re.I,
)
ENTER: Final = re.compile(r"\b(put|add|enter|schedule|book|create|set up|block|plan|invite)\b", re.I)
EVENT: Final = re.compile(
    r"\b(calendar|meeting|event|appointment|call|lunch|dinner|breakfast|session|review|hour)\b", re.I
)
RESPOND: Final = re.compile(r"\b(accept|decline)\b", re.I)
FILE: Final = re.compile(r"\b(archive|delete|trash|star|label|tag|mark|move)\b", re.I)
FILES_MAIL: Final = re.compile(
    r"\b(?:archive|delete|trash|star|label|tag|mark|move)\b(?:[ ,]+[\w'-]+){0,4}?[ ,]+"
    r"(?:whatever|e-?mails?|mails?|newsletters?|messages?|spam|adverts?|advertisements?|invoices?|receipts?)\b",
    re.I,
)
"""Filing whose object is emails, and no event."""
SMS: Final = re.compile(r"\b(text|sms|text message)\b", re.I)
SILENCE: Final = re.compile(
    r"\b(?:write|send) (?:to )?(?:nobody|no one|nothing)\b(?! else)|\bno (?:e-?mails?|messages?)\b|"
    r"\b(?:do not|don't|never) (?:write|send)(?: any)? (?:to (?:anybody|anyone|nobody)|e-?mails?|messages?)\b(?! else)|"
    r"\bnobody (?:gets|should get) (?:a|any) messages?\b",
    re.I,
)
"""The user wants no message to be sent, also none that a task would need."""
FORMAT: Final = re.compile(
    r"^(?:please )?(?:(?:write|give|use) (?:all |the )?(?:times|dates|days|amounts|numbers)|use the form)\b", re.I
)
"""How the user wants something to be written."""
PRONOUN: Final = re.compile(r"\b(him|her|them|he|she|they)\b", re.I)
TITLE: Final = re.compile(
    r"\b(?:put|add|enter|schedule|book|block|plan) (?:the |an? )?([\w' -]{3,80}?) "
    r"(?:on|from|into|in|to|for|tomorrow|today)\b",
    re.I,
)
CALENDAR: Final = re.compile(r" (?:in|into|to|on) (?:my|the) calendar\b", re.I)
UNTITLED: Final = frozenset({"meeting", "appointment", "event", "call", "it", "time"})
BULK: Final = re.compile(r"\b(newsletters?|advertisements?|adverts?|ads|promotions?|marketing)\b", re.I)
ASKING: Final = re.compile(r"\b(i (?:have|need) to|need an?|that need|i must|to) (answer|reply)|\bquestions?\b", re.I)
UNTIL: Final = re.compile(r"\b(?:arrive|come|coming|new ones)\b[^.;]*?\b(?:until|by|before) ([^.;,]{1,12})", re.I)
CONTENT: Final = re.compile(r"\b(?:that|saying|:)\s+(.+)$", re.I | re.S)
QUESTION: Final = re.compile(r"\bask\b.*?\b(whether|if|for|about|when|where|what|which|who|how)\b\s*(.+)$", re.I | re.S)
REMIND: Final = re.compile(r"\bremind me (?:to |of |about |that )?(.+)$", re.I | re.S)
RECEIVER: Final = re.compile(r"\bforward\b(.*?)\bto\b(.+)$", re.I | re.S)
ANSWER_ALL: Final = re.compile(
    r"\b(answer|reply to|respond to)\b.*\b(emails?|mails?|questions?|inquir|requests?|everybody|everyone|customers?)\b",
    re.I,
)
LABEL: Final = re.compile(r"\b(?:label|tag)(?:led)?\b.*?\b(?:with|as)\s+[\"“]?([\w-]+)", re.I)
FOLDER: Final = re.compile(r"\bto (?:the )?(?:folder )?[\"“]?([\w-]+)[\"”]?(?: folder)?\s*\.?$", re.I)
TOOL: Final = {
    "archive": "archive",
    "delete": "delete",
    "trash": "delete",
    "star": "star",
    "label": "add_label",
    "tag": "add_label",
    "mark": "mark_read",
    "move": "move",
}
_STOP: Final = frozenset(
    re.findall(
        r"\w[\w-]*",
        "a about accept all also an and answer any archive are as be by calendar can comment could decline delete did "
        "do does e-mail each email emails event every folder for forward from had has have he her him his if in inbox "
        "invitation invitations is it its label mail mails mark me meeting message messages move my new not of on once "
        "our please reason reply respond send she short should so soon star tag tell text that the their them then "
        "these they this those to trash unread was we when will with would write you your",
    )
)
"""Words that do not say what a text is about."""


def ordered(sentence: str) -> str:
    """The sentence with its stated wishes as orders, and without a heading such as `tidy my inbox:`."""
    for pattern, order in STATED:
        sentence = pattern.sub(order, sentence)
    heading, _, rest = sentence.partition(":")
    order = rest.strip()
    return order if COMMAND.match(order) and not SAY.search(heading) else sentence


def content_words(text: str) -> set[str]:
    """The words of a text that say what it is about, in lower case, without plural endings."""
    words = re.findall(r"[a-z0-9][\w'-]+", text.casefold())
    return {word.rstrip("s") if len(word) > 3 else word for word in words if word not in _STOP}
