"""Untrusted text for display: no invisible or reordering characters, no excess length."""

from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_cli.display_text import REPLACEMENT, named, on_one_line, shortened, visible, width_of
from tests.unit.cli.report.laws import law

JOINERS = {"\u200c", "\u200d"}
"""The invisible characters that stay, since scripts and emoji need them."""


@law
@given(st.text())
def test_no_control_or_direction_changing_character_is_left(text: str) -> None:
    left = {char for char in visible(text) if category(char) in {"Cc", "Cs"} or 0x202A <= ord(char) <= 0x202E}

    assert left <= {"\t", "\n"}


@pytest.mark.parametrize("char", ["\x00", "\x1b", "\x85", "\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041"])
def test_an_invisible_character_becomes_a_visible_replacement(char: str) -> None:
    assert visible(f"a{char}b") == f"a{REPLACEMENT}b"


@pytest.mark.parametrize("text", ["plain", "naïve Übung", "日本語", "👩\u200d🔬", "a\n\tb"])
def test_ordinary_text_of_any_script_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@law
@given(st.text(), st.integers(2, 40))
def test_a_shortened_text_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = shortened(text, limit)

    assert len(line) <= max(limit, len("(empty)"))
    assert "\n" not in line


def test_shortening_keeps_the_beginning_and_the_end() -> None:
    assert shortened("department-of-history/analyst_017", 16) == "departme…yst_017"


@pytest.mark.parametrize("text", ["", "  \n "])
def test_blank_text_is_shown_as_empty(text: str) -> None:
    assert on_one_line(text) == "(empty)"


def test_an_id_becomes_words() -> None:
    assert named("over_centralised") == "Over centralised"


@law
@given(st.text(max_size=30), st.text(max_size=30))
def test_a_longer_text_is_at_least_as_wide(text: str, more: str) -> None:
    assert width_of(text + more, 13) >= width_of(text, 13)


def test_wide_characters_count_as_wide() -> None:
    assert width_of("漢字", 10) > width_of("ab", 10)
