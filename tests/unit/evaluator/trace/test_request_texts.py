"""The sample of request texts: bounded, and independent of the order of arrival."""

from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.trace.reading import MAX_TEXT, RequestTexts, text_of

DIGESTS = st.lists(st.binary(min_size=2, max_size=2), max_size=40)


def sampled(digests: list[bytes], limit: int) -> dict[bytes, str]:
    texts = RequestTexts(limit)
    for digest in digests:
        texts.add([(digest, {"text": f"about {digest.hex()}"})])
    return texts.sample()


@given(DIGESTS.flatmap(lambda digests: st.tuples(st.just(digests), st.permutations(digests))), st.integers(1, 9))
def test_the_order_of_arrival_does_not_matter(cases: tuple[list[bytes], list[bytes]], limit: int) -> None:
    digests, shuffled = cases
    assert list(sampled(digests, limit).items()) == list(sampled(shuffled, limit).items())


@given(DIGESTS, st.integers(1, 9))
def test_as_many_texts_are_kept_as_the_limit_allows(digests: list[bytes], limit: int) -> None:
    sample = sampled(digests, limit)
    assert len(sample) == min(limit, len(set(digests)))
    assert all(text == f"about {digest.hex()}" for digest, text in sample.items())


def test_the_text_of_a_request_is_its_strings_in_the_order_of_their_keys() -> None:
    assert text_of({"b": ["x", {"d": "y", "c": 3}], "a": "w", "e": None}) == "w\nx\ny"


def test_the_text_of_a_request_is_cut_off() -> None:
    assert len(text_of({"a": "x" * MAX_TEXT, "b": "y"})) == MAX_TEXT
    assert len(text_of({str(n): "x" * 99 for n in range(10_000)})) <= MAX_TEXT


def test_a_request_of_any_depth_is_read() -> None:
    nested: dict[str, object] = {"text": "deep"}
    for _ in range(10_000):
        nested = {"a": [nested]}
    assert text_of(nested) == "deep"
