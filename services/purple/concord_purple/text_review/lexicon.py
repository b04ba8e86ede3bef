"""The word lists and patterns that the measurements use."""

import re
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


HEDGES: Final = _words(
    """
    apparently appear appears approximately arguably could generally may maybe might mostly partly perhaps possibly
    presumably probably relatively roughly seem seemed seems somewhat suggest suggests tend tended tends
    """
)
"""Words that soften a claim: a short list after Hyland, Metadiscourse (2005), appendix."""

BOOSTERS: Final = _words(
    """
    always certainly clearly conclusively definitely dramatically everyone never nobody obviously perfect proved
    proven proves revolutionary significantly undeniable undeniably undoubtedly unprecedented
    """
)
"""Words that make a claim strong enough to owe its reader a source: boosters (same list) and superlatives."""

STOP_WORDS: Final = _words(
    """
    about above after again also although among another because been before being below between both cannot could
    does down during each either even every few from further have having here hers however into itself just like
    many more most much must near nearly neither never none once only other others ours over same shall should
    since some such than that their theirs them then there these they this those through thus under until very
    well were what when where whether which while whom whose will with within without would your yours
    """
)
"""Words too common to be worth counting as repeated."""

SOURCE: Final = re.compile(
    r"\[\d+(?:, ?\d+)*\]"  # [3], [1, 4]
    r"|\([^()]*\b(?:19|20)\d\d[a-z]?\)"  # (Okafor, 2021)
    r"|\bet al\b|\baccording to\b|\bappendix\b|\b(?:table|figure|fig\.|section) ?\d+",
    re.IGNORECASE,
)
"""A source: a citation, an attribution, or a reference to a table, a figure or a section."""

FIGURE: Final = re.compile(r"(?<![\w.,-])\d[\d.,]*(?<![.,])(?: ?%| per ?cent\b)?")
"""A number that stands alone, with its percent sign; not part of a name such as `COVID-19` or `A4`."""

YEAR: Final = re.compile(r"(?:19|20)\d\d")
