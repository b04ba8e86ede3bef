"""What characters do on messages that they understand without a model, and the ledger of it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from concord_assistant.characters.brief import Brief, KnownAct
from concord_assistant.characters.incoming import Incoming
from concord_assistant.characters.rule_based import Answer, decided_answer, own_text
from concord_assistant.evaluation.ledgers import standing_in
from concord_assistant.meaning.references import refers_back
from concord_assistant.meaning.understanding import understood
from concord_assistant.results import LedgerAct, LedgerEntry


@dataclass(slots=True)
class Deeds:
    """The deeds of all characters in one assessment, in the order of the messages."""

    ledger: list[LedgerEntry] = field(default_factory=list)
    _asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    _texts: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """By character and act, the texts of the messages on which the character acted."""

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
                return self._ask(incoming, brief, known)
        return None

    def _do(self, incoming: Incoming, brief: Brief, known: KnownAct, found: Mapping[str, tuple[str, ...]]) -> Answer:
        first, *others = found
        replies, text = [], own_text(incoming)
        said = self._texts.setdefault((incoming.character_id, known.act), set())
        for value in found[first]:
            values = {first: value, **{role: found[role][0] for role in others}}
            if text in said or not self._recalls(incoming, known, values, text):
                self._enter(incoming, known, values)
            replies.append(known.reply(values))
        said.add(text)
        return decided_answer(incoming, brief) or Answer(" ".join(filter(None, replies)) or brief.otherwise or "")

    def _recalls(self, incoming: Incoming, known: KnownAct, values: dict[str, str], text: str) -> bool:
        """Whether a message recalls an order that stands, instead of being one.

        It does if it orders the same and refers back, or comes after a turn in which the character could answer. One
        that refers back and orders something else replaces what stands.
        """
        standing, _ = standing_in(self.ledger, incoming.character_id, known.act)
        if known.act != "order" or not standing:
            return False
        if any(each.values == values for each in standing):
            return refers_back(text) or all(each.timestamp < incoming.sent_at for each in standing)
        if refers_back(text):
            self._enter(incoming, known, standing[-1].values, act="cancel")
        return False

    def _ask(self, incoming: Incoming, brief: Brief, known: KnownAct) -> Answer:
        """The question, the first time, after what a rule says to the message."""
        self._enter(incoming, known, None)
        key = incoming.character_id, known.act
        self._asked[key] += 1
        ruled = decided_answer(incoming, brief)
        asked = known.ask if self._asked[key] == 1 else ""
        return Answer(" ".join(filter(None, (ruled.text if ruled else "", asked))))

    def _did(self, character_id: str, known: KnownAct) -> bool:
        return any(each.understood and (each.character, each.act) == (character_id, known.act) for each in self.ledger)

    def _enter(
        self, incoming: Incoming, known: KnownAct, values: dict[str, str] | None, act: LedgerAct | None = None
    ) -> None:
        self.ledger.append(
            LedgerEntry(
                character=incoming.character_id,
                act=act or known.act,
                understood=values is not None,
                values=values or {},
                timestamp=incoming.sent_at,
                message_id=incoming.message_id,
            )
        )
