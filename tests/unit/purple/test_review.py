"""Reviews: they consist of facts, and checks keep wrong facts and invented statements out of them."""

import json
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from concord_purple.text_review.measure import (
    Aspect,
    Check,
    Findings,
    ReviewStatement,
    Section,
    TextFact,
    Weakness,
    measure,
    sentences_of,
)
from concord_purple.text_review.review import (
    add_draft,
    add_facts,
    add_verdict,
    advise,
    answer_json,
    cross_check,
    draft,
    evidence_from_draft,
    evidence_from_text,
    review_text,
    verify,
)

REPORT = (Path(__file__).parent / "texts/cargo_bikes.txt").read_text(encoding="utf-8")
FLAWS_BY_KEY = {
    "long_sentences": Weakness.LONG_SENTENCE,
    "figures_without_source": Weakness.BARE_FIGURE,
    "claims_without_evidence": Weakness.BARE_CLAIM,
    "doubly_hedged": Weakness.DENSE_HEDGING,
}
LONG = (
    "The bikes were lent to everyone who asked for them in the first year and who lived in one of the northern "
    "districts because the council wanted it so."
)

_VOCABULARY = [
    "bikes",
    "may",
    "perhaps",
    "obviously",
    "9 %",
    "840",
    "[3]",
    "“quoted”",
    "and",
    "because",
    "İstanbul",
    "A",
]
TEXTS = st.one_of(
    st.lists(st.sampled_from([*_VOCABULARY, ".", "!", "\n\n", "”"]), min_size=1, max_size=80).map(" ".join),
    st.text(min_size=1, max_size=200),
).filter(lambda text: any(character.isalnum() for character in text))


def _reviewed(text: str) -> Findings:
    findings = add_facts(text, Aspect, Findings(), "researcher")
    return add_verdict(text, add_draft(text, findings, "synthesizer"), "reviewer")


@given(TEXTS)
def test_an_honest_review_passes_every_check(text: str) -> None:
    findings = _reviewed(text)
    everyone = findings | Findings(
        checks=evidence_from_text(text, findings, "researcher") + evidence_from_draft(findings, "synthesizer")
    )
    assert everyone.refuted == {}
    assert everyone.checked


def test_advice_quotes_the_text_as_it_is_written() -> None:
    text = LONG.replace("and who lived", "and (who) lived")
    [advice] = [item.text for item in _reviewed(text).advice if "Split" in item.text]
    assert advice == "Split it in two before “and (who) lived”."


@given(TEXTS, st.permutations(list(Aspect)))
def test_agents_that_measure_the_same_aspects_find_the_same_facts(text: str, aspects: list[Aspect]) -> None:
    apart = Findings()
    for aspect in aspects:
        apart |= Findings(facts=measure(text, [aspect], "one"))
    together = measure(text, Aspect, "one")
    assert sorted(apart.facts, key=lambda fact: fact.fact_id) == sorted(together, key=lambda fact: fact.fact_id)
    assert all(check.holds for check in cross_check(text, together, "other"))


def test_a_wrong_figure_an_invented_fact_and_a_false_quote_are_found_on_cross_check() -> None:
    (fact,) = (fact for fact in measure(LONG, [Aspect.SENTENCES], "r") if fact.flaw)
    invented = TextFact("long_sentence-9", Aspect.SENTENCES, "Sentence 9 has 40 words.", 40, Weakness.LONG_SENTENCE, 9)
    wrong = [replace(fact, value=27.0), invented, replace(fact, quote="The cars")]
    assert [check.reason for check in cross_check(LONG, wrong, "c")] == [
        "measured 29, not 27",
        "not found in the text",
        "the quoted passage is not in the text",
    ]


def test_a_refuted_fact_is_left_out_of_the_draft() -> None:
    facts = measure(LONG, Aspect, "r")
    refuted = Check("long_sentence-1", False, "c", "miscounted")
    assert "weakness-long_sentence-1" in {s.statement_id for s in draft(Findings(facts=facts), "s")}
    findings = Findings(facts=facts, checks=(refuted,))
    assert "weakness-long_sentence-1" not in {s.statement_id for s in draft(findings, "s")}


def test_each_weakness_gets_fitting_advice() -> None:
    text = f"{LONG} Trips rose by 61 %. Clearly they did. It may perhaps rain. {'Bikes! ' * 5}"
    advice = {item.fact_id: item.text for item in advise(text, measure(text, Aspect, "r"))}
    assert advice == {
        "long_sentence-1": "Split it in two before “and who lived”.",
        "bare_figure-2": "Name the source, or say how it was measured.",
        "bare_claim-1": "Give the evidence, or claim less.",
        "bare_claim-3": "Give the evidence, or claim less.",
        "dense_hedging-4": "Say once how sure you are.",
        "overused_word-bikes": "Vary or cut it (sentences 1, 5, 6, 7, 8, 9).",
    }


def test_only_aspects_without_weaknesses_are_praised() -> None:
    findings = Findings(facts=measure("Trips rose by 61 %.", Aspect, "r"))
    strengths = {s.statement_id for s in draft(findings, "s") if s.part is Section.STRENGTH}
    assert strengths == {"strength-sentences", "strength-repetition", "strength-hedging"}


def test_the_gravest_weaknesses_are_listed_and_the_rest_is_counted() -> None:
    text = "Trips rose by 61 %. It may perhaps rain. " * 8
    weaknesses = [s for s in draft(Findings(facts=measure(text, Aspect, "r")), "s") if s.part is Section.WEAKNESS]
    assert len(weaknesses) == 13
    assert [s.rests_on[0].partition("-")[0] for s in weaknesses[:12]] == ["bare_figure"] * 8 + ["dense_hedging"] * 4
    assert weaknesses[12].text == f"Smaller points: {len(weaknesses[12].rests_on)} more."


def _verdict_on(statement: ReviewStatement) -> Check:
    facts = measure("Trips rose by 61 %.", Aspect, "r")
    return verify("Trips rose by 61 %.", Findings(facts=facts, statements=(statement,)), "v")[0]


def test_the_reviewer_objects_to_a_statement_without_a_valid_fact() -> None:
    assert (
        _verdict_on(ReviewStatement("x", Section.SUMMARY, "All good.", ())).reason
        == "rests on a fact that does not stand"
    )
    unknown = ReviewStatement("x", Section.SUMMARY, "All good.", ("support", "bare_figure-7"))
    assert _verdict_on(unknown).reason == "rests on a fact that does not stand"


def test_the_reviewer_objects_to_invented_quotes_and_numbers() -> None:
    quoting = ReviewStatement("x", Section.WEAKNESS, "It says “Trips fell”.", ("bare_figure-1",))
    assert _verdict_on(quoting).reason == "quotes what the text does not say: “Trips fell”"
    counting = ReviewStatement("x", Section.WEAKNESS, "It gives “61 %”, which is 16 too many.", ("bare_figure-1",))
    assert _verdict_on(counting).reason == "gives a number that no fact has: 16"


def test_the_reviewer_objects_to_praise_for_a_weakness() -> None:
    praise = ReviewStatement("x", Section.STRENGTH, "Gives figures.", ("bare_figure-1",))
    assert _verdict_on(praise).reason == "praises what a fact holds against the text"


def test_witnesses_refute_facts_and_statements_that_they_cannot_confirm() -> None:
    findings = add_draft(LONG, add_facts(LONG, Aspect, Findings(), "r"), "s")
    forged = Findings(
        facts=tuple(replace(f, value=99.0) if f.fact_id == "long_sentence-1" else f for f in findings.facts),
        advice=findings.advice,
        statements=tuple(replace(s, text="So good.") if s.part is Section.STRENGTH else s for s in findings.statements),
    )
    denied = {check.subject for check in evidence_from_text(LONG, forged, "r") if not check.holds}
    assert denied == {"weakness-long_sentence-1"}
    assert evidence_from_text(LONG, forged, "somebody else") == ()
    disowned = {check.subject for check in evidence_from_draft(forged, "s") if not check.holds}
    assert disowned == {s.statement_id for s in forged.statements if s.part is Section.STRENGTH}


def test_refuted_statements_are_left_out_of_the_review_and_listed() -> None:
    findings = _reviewed("Trips rose by 61 %.")
    objected = findings | Findings(checks=(Check("weakness-bare_figure-1", False, "editor", "it has a source"),))
    assert "Sentence 1 gives “61 %”" in review_text(findings)
    assert "Sentence 1 gives “61 %”" not in review_text(objected)
    assert "Left out weakness-bare_figure-1: it has a source." in review_text(objected)


def test_the_review_names_its_authors_and_their_failures() -> None:
    findings = _reviewed("Trips rose by 61 %.") | Findings(notes=("reviewer_2 gave no answer.",))
    assert review_text(findings).endswith(
        "How this review came about\n"
        "- Facts: 5, found by researcher.\n"
        "- Written by synthesizer; 8 statements checked by reviewer.\n"
        "- reviewer_2 gave no answer."
    )


@given(TEXTS)
def test_the_json_lists_the_flawed_sentences_in_ascending_order(text: str) -> None:
    findings = _reviewed(text)
    answer = json.loads(answer_json(findings))
    assert answer.pop("sentences") == len(sentences_of(text))
    for key, flaw in FLAWS_BY_KEY.items():
        named = {fact.sentence for fact in findings.facts if fact.flaw is flaw}
        assert answer.pop(key) == sorted(number for number in named if number is not None)
    assert answer == {}


@given(st.sets(st.sampled_from(Aspect)))
def test_the_json_has_null_for_aspects_that_were_not_measured(aspects: set[Aspect]) -> None:
    seen = Findings(facts=measure(REPORT, aspects, "r"))
    answer, whole = (json.loads(answer_json(findings)) for findings in (seen, _reviewed(REPORT)))
    looked_at = {
        "sentences": Aspect.SENTENCES,
        "long_sentences": Aspect.SENTENCES,
        "figures_without_source": Aspect.SUPPORT,
        "claims_without_evidence": Aspect.SUPPORT,
        "doubly_hedged": Aspect.HEDGING,
    }
    assert answer == {key: whole[key] if aspect in aspects else None for key, aspect in looked_at.items()}


def test_the_json_leaves_out_refuted_facts() -> None:
    findings = _reviewed("Trips rose by 61 %. Costs fell by 9 %.")
    objected = findings | Findings(checks=(Check("bare_figure-1", False, "editor", "it has a source"),))
    assert json.loads(answer_json(findings))["figures_without_source"] == [1, 2]
    assert json.loads(answer_json(objected))["figures_without_source"] == [2]


def test_a_stage_adds_only_what_is_missing() -> None:
    by_one = add_facts(REPORT, [Aspect.SUPPORT], Findings(), "one")
    by_both = add_facts(REPORT, Aspect, by_one, "two")
    assert {fact.found_by for fact in by_both.facts if fact.aspect is Aspect.SUPPORT} == {"one"}
    assert {fact.found_by for fact in by_both.facts if fact.aspect is not Aspect.SUPPORT} == {"two"}
    drafted = add_draft(REPORT, by_both, "one")
    assert add_draft(REPORT, drafted, "two") == drafted


def test_the_shipped_text_has_every_kind_of_weakness_and_a_strength() -> None:
    facts = measure(REPORT, Aspect, "r")
    assert {fact.flaw for fact in facts} == {None, *Weakness}
    assert "1 of them with a source" in next(fact.claim for fact in facts if fact.fact_id == "support")
