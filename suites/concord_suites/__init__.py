"""The shipped suite: tasks that need a team."""

from importlib.resources import files
from typing import Final

from concord.suite import Suite
from concord_suites import agree, all_to_all, judge, pipeline, pool
from concord_suites.family import TextFamily

FAMILIES: Final[tuple[TextFamily, ...]] = (
    *pool.FAMILIES,
    *pipeline.FAMILIES,
    *all_to_all.FAMILIES,
    *agree.FAMILIES,
    *judge.FAMILIES,
)

SUITE: Final = Suite(
    {family.name: family for family in FAMILIES},
    {
        file.name.removesuffix(".json"): file.read_text(encoding="utf-8")
        for file in files(__package__).joinpath("manifests").iterdir()
    },
)

__all__ = ["FAMILIES", "SUITE"]
