"""Colours: text and marks have enough contrast, in light and in dark mode (WCAG 2.1, level AA)."""

import re
from importlib.resources import files
from itertools import product

import pytest

STYLE = files("concord_cli.report").joinpath("templates", "report.css").read_text(encoding="utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([a-z-]+): #([0-9a-f]{6})\b", block)) for block in re.findall(r":root \{([^}]*)\}", STYLE)[:2]
)

TEXT, MARK = 4.5, 3.0
PAIRS = [
    *product(("ink", "quiet", "accent", "bad", "good", "wary"), ("ground", "surface"), [TEXT]),
    *product(("ink",), ("wary-tint", "tint", "bad-tint"), [TEXT]),
    *product(("quiet", "accent"), ("wary-tint",), [TEXT]),
    *product(("accent", "edge", "flow", "bad", "wary"), ("ground", "surface"), [MARK]),
]


def luminance(colour: str) -> float:
    """Relative luminance of an sRGB colour."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_follows_the_wcag_formula() -> None:
    assert contrast("ffffff", "000000") == pytest.approx(21)
    assert contrast("777777", "ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("palette", [LIGHT, LIGHT | DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("colour", "ground", "least"), PAIRS)
def test_every_colour_pair_has_enough_contrast(palette: dict[str, str], colour: str, ground: str, least: float) -> None:
    assert contrast(palette[colour], palette[ground]) >= least
