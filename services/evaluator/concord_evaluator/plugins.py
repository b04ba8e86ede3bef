"""The registry of extensions of each kind: the built-in ones, and those that installed packages offer."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Generic, TypeVar

from concord.assessment.scorers import ENTRY_POINT_GROUP
from concord.entry_points import entry_points

METRIC_GROUP: Final = "concord.metrics"
EVALUATOR_GROUP: Final = "concord.evaluators"
FORMAT_GROUP: Final = "concord.trace_formats"
"""The groups of entry points by which packages extend an evaluation."""

_Extension = TypeVar("_Extension")


class BrokenPluginError(Exception):
    """An installed package offers an extension that cannot be used."""


@dataclass(frozen=True, eq=False)
class Extensions(Generic[_Extension]):
    """The extensions of one kind, which packages offer at the entry points of a `group`.

    `kind`: what an error calls them. `read`: those that an entry point of that name offers with an object, by their
    names; raises TypeError for an object that is none. `reserved`: names that no package may use. `check`: raises
    BrokenPluginError if these extensions cannot work together.
    """

    group: str
    kind: str
    read: Callable[[str, object], Iterable[tuple[str, _Extension]]]
    built_in: Mapping[str, _Extension] = field(default_factory=dict)
    reserved: Collection[str] = ()
    check: Callable[[Mapping[str, _Extension]], None] = lambda _: None

    @cached_property
    def installed(self) -> Mapping[str, _Extension]:
        """The built-in extensions and those of packages, sorted by their names. Raises BrokenPluginError."""
        found = dict(self.built_in)
        for entry in sorted(entry_points(group=self.group), key=lambda entry: (entry.name, entry.value)):
            package = entry.dist.name if entry.dist is not None else entry.value
            try:
                offered = list(self.read(entry.name, entry.load()))
            except Exception as error:
                reason = f"{package}: the {self.kind} {entry.name!r} cannot be loaded: {error}"
                raise BrokenPluginError(reason) from error
            for name, extension in offered:
                if name in found or name in self.reserved:
                    raise BrokenPluginError(f"{package}: another {self.kind} is also called {name!r}")
                found[name] = extension
        self.check(found)
        return dict(sorted(found.items()))

    @property
    def fault(self) -> str | None:
        """Which package offers an extension that cannot be used, and why; None if all can."""
        try:
            _ = self.installed
        except BrokenPluginError as error:
            return str(error)
        return None


def has_plugins(*groups: str) -> bool:
    """Whether a package extends evaluations, by default in any of the groups that services use. Loads none."""
    return any(entry_points(group=group) for group in groups or (METRIC_GROUP, EVALUATOR_GROUP, ENTRY_POINT_GROUP))
