"""The state of a modality as a document in a scenario file.

Documents omit derived data: threads, folders, labels and counts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, Field

from concord_environment.core.faults import Invalid
from concord_environment.core.tables import Table
from concord_environment.modalities.fields import Moment


class StateDocument(BaseModel):
    """The fields that the documents of all modalities share."""

    modality_type: str
    last_updated: Moment
    update_count: Annotated[int, Field(ge=0)] = 0


S = TypeVar("S")
D = TypeVar("D", bound=StateDocument)


@dataclass(frozen=True, slots=True)
class ScenarioForm(Generic[S, D]):
    """Converts the state of a modality from and to a document in a scenario file.

    `load` fills an empty state from a document and raises Invalid for an inconsistent document. `dump` returns the
    fields of the document.
    """

    document: type[D]
    load: Callable[[S, D], None]
    dump: Callable[[S], dict[str, Any]]


def load_rows(table: Table[Any], rows: Mapping[str, Any], id_name: str) -> None:
    """Writes rows into a table by their keys. Raises Invalid for a row whose field `id_name` differs from its key."""
    for key, row in rows.items():
        if getattr(row, id_name) != key:
            raise Invalid(f"{table.name}: the item {key!r} has the {id_name} {getattr(row, id_name)!r}")
        table.write(key, row)


def with_current_names(
    items: object, id_name: str, names: Mapping[str, str], complete: Callable[[dict[str, Any]], dict[str, Any]]
) -> object:
    """Returns items by id after replacing the field names of older scenario files.

    `names` maps old names to current names. `complete` adds the fields that older files lack. A value that is not an
    object passes unchanged, for pydantic to reject.
    """
    if not isinstance(items, Mapping):
        return items
    return {
        key: complete({id_name: key, **{names.get(name, name): value for name, value in item.items()}})
        if isinstance(item, Mapping)
        else item
        for key, item in items.items()
    }
