"""What characters do on messages that they understand without a model, and the ledger of it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from concord_assistant.characters.brief import Brief, KnownAct
from concord_assistant.characters.incoming import Incoming
from concord_assistant.characters.rule_based import Answer, decided_answer, own_text
from concord_assistant.meaning.understanding import understood
from concord_assistant.results import LedgerEntry


@dataclass(slots=True)
class Deeds:
    """The deeds of all characters in one assessment, in the order of the messages."""

    ledger: list[LedgerEntry] = field(default_factory=list)
    _asked: Counter[tuple[str, str]] = field(default_factory=Counter)

    def answer(self, incoming: Incoming, brief: Brief) -> Answer | None:
        """Does the first act that a message means. Returns the reply to it, None if it means none.

        What is unclear the character asks about once, and does nothing.
        """
        if incoming.modality == "calendar":
            return None
        for known in brief.acts:
            found = understood(own_text(incoming), known.example, many=known.many)
            if found.outcome == "done":
                return self._do(incoming, brief, known, found.values)
            if found.outcome == "unclear" and not self._did(incoming.character_id, known):
                return self._ask(incoming, known)
        return None

    def _do(self, incoming: Incoming, brief: Brief, known: KnownAct, found: Mapping[str, tuple[str, ...]]) -> Answer:
        first, *others = found
        replies = []
        for value in found[first]:
            values = {first: value, **{role: found[role][0] for role in others}}
            self._enter(incoming, known, values)
            replies.append(known.reply(values))
        return decided_answer(incoming, brief) or Answer(" ".join(filter(None, replies)) or brief.otherwise or "")

    def _ask(self, incoming: Incoming, known: KnownAct) -> Answer:
        self._enter(incoming, known, None)
        key = incoming.character_id, known.act
        self._asked[key] += 1
        return Answer(known.ask if self._asked[key] == 1 else "")

    def _did(self, character_id: str, known: KnownAct) -> bool:
        return any(each.understood and (each.character, each.act) == (character_id, known.act) for each in self.ledger)

    def _enter(self, incoming: Incoming, known: KnownAct, values: dict[str, str] | None) -> None:
        self.ledger.append(
            LedgerEntry(
                character=incoming.character_id,
                act=known.act,
                understood=values is not None,
                values=values or {},
                timestamp=incoming.sent_at,
                message_id=incoming.message_id,
            )
        )
