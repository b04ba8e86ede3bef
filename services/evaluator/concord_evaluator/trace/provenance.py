"""Provenance: why a call is believed."""

from enum import StrEnum
from typing import Final


class Provenance(StrEnum):
    """Why a call is believed: the gateway observed it, both ends reported it, or one end did."""

    OBSERVED = "observed"
    CORROBORATED = "corroborated"
    REPORTED = "reported"


PROVENANCES: Final = tuple(Provenance)
"""The members by their codes in columns, from the most trusted one to the least."""
