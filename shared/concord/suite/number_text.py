"""Writes numbers in plain digits that a text has in other notations: LaTeX, powers of ten, Indian groups."""

import re
from decimal import Decimal
from typing import Final

_LATEX_COMMA: Final = re.compile(r"(?<=\d)\{,\}(?=\d)")
_LATEX_SPACE: Final = re.compile(r"(?<=\d)(?:\\[,;: ]|\\thinspace\b ?|~)(?=\d{3})")
_INDIAN: Final = re.compile(r"(?<![\w.,])\d{1,2}(?:,\d\d)+,\d{3}(?![\w]|[.,]\d)")
_SUPERSCRIPTS: Final = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", "0123456789")
_POWER: Final = re.compile(
    r"(?<![\w.,])(?P<mantissa>\d(?:\.\d{1,30})?)(?:[eE]\+?(?P<e>\d{1,2})"
    r"|\s?(?:[x*\u00d7\u00b7]|\\times|\\cdot)\s?10(?:\^\{?(?P<ten>\d{1,2})\}?"
    r"|(?P<super>[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]{1,2})))(?![\w]|[.,]\d)"
)


def plain_numbers(text: str) -> str:
    r"""The text with such numbers as digits alone: 48{,}213, 48\,213, 4.8213e4 and 4.8213 \times 10^4 are 48213.

    An Indian 1,23,456 is 123456.
    """
    text = _LATEX_SPACE.sub(" ", _LATEX_COMMA.sub(",", text))
    text = _INDIAN.sub(lambda number: number[0].replace(",", ""), text)
    return _POWER.sub(_written_out, text)


def _written_out(power: re.Match[str]) -> str:
    """The number, if it is whole."""
    exponent = power["e"] or power["ten"] or power["super"].translate(_SUPERSCRIPTS)
    number = Decimal(power["mantissa"]).scaleb(int(exponent))
    return str(int(number)) if number == number.to_integral_value() else power[0]
