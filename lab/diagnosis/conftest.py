"""The formats of the corpora, which a package adds."""

from collections.abc import Iterator

import pytest

from tests.kit import packages


@pytest.fixture(autouse=True)
def research_formats() -> Iterator[None]:
    """The formats of `examples/concord-research`, as if it were installed."""
    with packages.research_formats():
        yield
