"""The researchers' measurements, on texts small enough to count by hand."""

import pytest

from concord_purple.text_review.measure import Aspect, TextFact, Weakness, measure, readability_grade, sentences_of


def _flaws(text: str, aspect: Aspect) -> list[tuple[Weakness | None, int | None, str]]:
    return [(fact.flaw, fact.sentence, fact.claim) for fact in measure(text, [aspect], "r") if fact.flaw is not None]


def _overall(text: str, aspect: Aspect) -> TextFact:
    return next(fact for fact in measure(text, [aspect], "r") if fact.flaw is None)


def test_sentences_end_at_full_stops_and_blank_lines_but_not_at_abbreviations_or_decimals() -> None:
    text = 'Dr. Lee paid 3.5 euros, e.g. Monday. "Why?" she asked.\n\nNo stop here\n\nLast (one).'
    assert [sentence.text for sentence in sentences_of(text)] == [
        "Dr. Lee paid 3.5 euros, e.g. Monday.",
        '"Why?" she asked.',
        "No stop here",
        "Last (one).",
    ]


def test_words_keep_apostrophes_hyphens_and_decimals() -> None:
    assert sentences_of("It's a well-known 4,210.")[0].words == ("It's", "a", "well-known", "4,210")


def test_the_readability_grade_is_the_automated_readability_index() -> None:
    # 6 words of 4, 4, 4, 4, 5 and 3 characters in 2 sentences: 4.71 * 24/6 + 0.5 * 6/2 - 21.43
    assert readability_grade(sentences_of("Cats like milk. Dogs chase the.")) == pytest.approx(-1.09)


def test_the_text_as_a_whole_is_described_by_counts() -> None:
    fact = _overall("One two three. Four five.", Aspect.SENTENCES)
    assert fact.claim.startswith("The text has 5 words in 2 sentences, 2.5 words a sentence,")
    assert fact.value == 2
    assert fact.found_by == "r"


@pytest.mark.parametrize(("n_words", "long"), [(25, False), (26, True)])
def test_a_sentence_is_long_from_26_words_on(n_words: int, long: bool) -> None:
    text = "Short one. " + "A" + " word" * (n_words - 1) + "."
    expected = [(Weakness.LONG_SENTENCE, 2, f"Sentence 2 has {n_words} words.")] if long else []
    assert _flaws(text, Aspect.SENTENCES) == expected


def test_figures_without_a_source_are_flagged() -> None:
    text = "It fell by 9 %. It took 2.5 hours. We made 4,210 trips. It cost 840 euros."
    assert _flaws(text, Aspect.SUPPORT) == [
        (Weakness.BARE_FIGURE, 1, "Sentence 1 gives “9 %” without a source."),
        (Weakness.BARE_FIGURE, 2, "Sentence 2 gives “2.5” without a source."),
        (Weakness.BARE_FIGURE, 3, "Sentence 3 gives “4,210” without a source."),
        (Weakness.BARE_FIGURE, 4, "Sentence 4 gives “840” without a source."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "We bought 12 bikes in 2023.",
        "COVID-19 and A450 are names.",
        "It fell by 9 % (Okafor, 2021).",
        "It fell by 9 % [3, 4].",
        "According to the logs, it fell by 9 %.",
        "Table 2 shows that it fell by 9 %.",
        "Clearly it fell, as Okafor et al. showed.",
    ],
)
def test_small_counts_years_names_and_sourced_figures_are_not_flagged(text: str) -> None:
    assert _flaws(text, Aspect.SUPPORT) == []


def test_a_strong_word_without_a_source_is_a_bare_claim() -> None:
    text = "Everyone obviously agrees."
    assert _flaws(text, Aspect.SUPPORT) == [
        (Weakness.BARE_CLAIM, 1, "Sentence 1 says “Everyone” and “obviously” without evidence.")
    ]


def test_support_counts_sentences_that_need_a_source_and_those_that_have_one() -> None:
    fact = _overall("It fell by 9 %. It rose by 3 % [1]. It was nice.", Aspect.SUPPORT)
    assert fact.claim == "2 sentences with figures or strong claims, 1 of them with a source."
    assert fact.value == 1


@pytest.mark.parametrize(("times", "overused"), [(4, False), (5, True)])
def test_a_content_word_is_overused_from_five_times_on(times: int, overused: bool) -> None:
    text = " ".join(["Bikes here."] * times)
    assert (
        (Weakness.OVERUSED_WORD, None, "The word “bikes” occurs 5 times.") in _flaws(text, Aspect.REPETITION)
    ) is overused


def test_common_and_short_words_are_never_overused() -> None:
    assert _flaws("They were there with them. " * 9, Aspect.REPETITION) == []


def test_two_softening_words_in_a_sentence_are_flagged_and_one_is_not() -> None:
    text = "It may rain. Perhaps it might rain."
    assert _flaws(text, Aspect.HEDGING) == [
        (Weakness.DENSE_HEDGING, 2, "Sentence 2 softens its claim 2 times: “Perhaps” and “might”.")
    ]
    assert _overall(text, Aspect.HEDGING).claim == "The text has 3 softening words, 42.9 in a hundred."


def test_aspects_are_measured_once_each_in_the_requested_order() -> None:
    facts = measure("Plain text.", [Aspect.HEDGING, Aspect.SENTENCES, Aspect.HEDGING], "r")
    assert [fact.aspect for fact in facts] == [Aspect.HEDGING, Aspect.SENTENCES]


def test_a_text_without_words_cannot_be_measured() -> None:
    with pytest.raises(ValueError, match="no words"):
        measure("… !!", Aspect, "r")
