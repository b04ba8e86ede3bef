"""The model's answer: parses it, and verifies each quote against the evidence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from concord.judging import (
    CANARY,
    FAVOURABLE,
    TASK_SUCCESS,
    CompromisedError,
    Decision,
    Quote,
    UnreadableAnswerError,
    Verdict,
    is_quoted_from,
    parsed_answer,
)
from concord_evaluator.judge.evidence import Evidence
from concord_evaluator.judge.rubric import Criterion, answer_ids, outcomes


@dataclass(frozen=True, slots=True)
class Opinion:
    """One verified answer. `quotes`: the first true quote for each verdict; `unverified`: criteria without one."""

    verdicts: Mapping[str, Verdict]
    unverified: tuple[str, ...]
    quotes: Mapping[str, str]
    reasoning: str
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]


def read_answer(text: str, criteria: Sequence[Criterion], evidence: Evidence) -> Opinion:
    """Parses and verifies an answer. A favourable verdict without a true quote becomes `cannot_tell`.

    Raises UnreadableAnswerError, CompromisedError.
    """
    answer = parsed_answer(text)
    decisions = {decision.criterion: decision for decision in answer.criteria}
    if missing := [criterion.id for criterion in criteria if criterion.id not in decisions]:
        raise UnreadableAnswerError(f"no verdict on {', '.join(missing)}")
    if decisions[CANARY].verdict in FAVOURABLE:
        raise CompromisedError("the model reported a code word that no agent knows")
    asked = [criterion.id for criterion in criteria if criterion.id != CANARY]
    quotes = {name: quote for name in asked if (quote := _true_quote(decisions[name], evidence))}
    unverified = tuple(name for name in asked if name not in quotes and decisions[name].verdict in FAVOURABLE)
    verdicts: dict[str, Verdict] = {
        name: "cannot_tell" if name in unverified else decisions[name].verdict for name in asked
    }
    strengths, weaknesses = tuple(answer.strengths[:3]), tuple(answer.weaknesses[:3])
    return Opinion(verdicts, unverified, quotes, answer.reasoning, strengths, weaknesses)


def merge(opinions: Sequence[Opinion]) -> tuple[Opinion, float]:
    """The most frequent verdict on each criterion (of equals the less favourable), and the agreement of the samples.

    Agreement is the mean over criteria of the share of samples with the chosen verdict.
    """
    order: Sequence[Verdict] = ("not_met", "partly", "cannot_tell", "met")
    chosen: dict[str, Verdict] = {}
    shares = []
    for name in opinions[0].verdicts:
        votes = Counter(opinion.verdicts[name] for opinion in opinions)
        chosen[name] = max(order, key=lambda verdict: (votes[verdict], -order.index(verdict)))
        shares.append(votes[chosen[name]] / len(opinions))
    closest = max(opinions, key=lambda opinion: sum(opinion.verdicts[name] == chosen[name] for name in chosen))
    unverified = tuple(name for name in closest.unverified if chosen[name] == "cannot_tell")
    quotes = {name: quote for name, quote in closest.quotes.items() if closest.verdicts[name] == chosen[name]}
    merged = replace(closest, verdicts=chosen, unverified=unverified, quotes=quotes)
    return merged, fmean(shares) if shares else 1.0


def _true_quote(decision: Decision, evidence: Evidence) -> str | None:
    return next((quote.quote for quote in decision.evidence if _is_true(quote, decision.criterion, evidence)), None)


def _is_true(quote: Quote, criterion: str, evidence: Evidence) -> bool:
    """Whether the text with that id contains the quote."""
    return is_quoted_from(quote.quote, _texts(quote.id, criterion, evidence))


def _texts(text_id: str, criterion: str, evidence: Evidence) -> list[str]:
    """The texts of agents with an id. An answer is not evidence on another answer."""
    answers = evidence.asked_about
    ids = answer_ids(len(answers))
    if text_id in ids:
        number = ids.index(text_id)
        about_others = criterion.startswith(TASK_SUCCESS) and criterion != outcomes(len(answers))[number].id
        return [] if about_others else [answers[number].text]
    return [text for call in evidence.calls if call.id == text_id for text in (call.request, call.response)]
