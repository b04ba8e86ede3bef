"""Effects: what a step did to an artifact survives the wire, and hostile attributes are unknown facts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.trace.effects import ATTRIBUTES, KIND, MAX_EXCERPT, Effect, EffectKind, Lines, Workspace, effect_of
from concord.trace.otlp import to_step
from tests.unit.shared.test_otlp import span

COUNTS = st.none() | st.integers(0, 10**6)
RANGES = st.builds(Lines, st.integers(1, 40), st.integers(0, 10))
EFFECTS = st.builds(
    Effect,
    kind=st.sampled_from(EffectKind),
    artifact=st.text(max_size=20),
    lines=st.none() | RANGES,
    digest=st.text("0123456789abcdef", max_size=8),
    added=COUNTS,
    removed=COUNTS,
    passed=st.sampled_from([None, True, False]),
    workspace=st.none() | st.sampled_from(Workspace),
    excerpt=st.text(max_size=40),
)


@given(EFFECTS)
def test_an_effect_is_read_as_it_was_written(effect: Effect) -> None:
    assert effect_of(effect.attributes()) == effect
    assert effect.attributes().keys() <= ATTRIBUTES


@given(EFFECTS.filter(lambda each: bool(each.artifact)))
def test_a_span_has_the_effect_in_attributes_of_concords_own(effect: Effect) -> None:
    stated = {f"concord.{name}": value for name, value in effect.attributes().items()}
    assert effect_of(to_step(span(attributes=stated)).additional_attributes) == effect


@given(st.dictionaries(st.sampled_from(sorted(ATTRIBUTES)), st.text(max_size=30) | st.sampled_from([*EffectKind])))
def test_any_attributes_are_an_effect_or_none(attributes: dict[str, str]) -> None:
    found = effect_of(attributes)
    assert (found is not None) == (attributes.get(KIND) in set(EffectKind))


@pytest.mark.parametrize("lines", ["", "1", "1,2,3", "-1,2", "a,b", "1,", "9" * 5000 + ",1", "²,1"])
def test_a_malformed_range_is_unknown(lines: str) -> None:
    found = effect_of({KIND: "edited", "effect.lines": lines})
    assert found is not None
    assert found.lines is None


def test_a_long_change_is_quoted_from_its_beginning() -> None:
    long = Effect(EffectKind.EDITED, "a", excerpt="+" * (MAX_EXCERPT + 1))
    assert len(long.attributes()["effect.excerpt"]) == MAX_EXCERPT


@given(RANGES, RANGES)
def test_ranges_touch_if_they_share_a_line_or_adjoin(one: Lines, other: Lines) -> None:
    """Against the definition: the places between lines that a range covers, its two ends included."""
    places = [set(range(each.start, each.start + each.length + 1)) for each in (one, other)]
    assert one.touches(other) == other.touches(one) == bool(places[0] & places[1])
