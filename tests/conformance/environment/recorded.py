"""Exchanges recorded from UES: replays them against a server, and says where an answer has another shape."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from starlette.testclient import TestClient

RECORDED: Final = Path(__file__).with_name("ues")

_PLACEHOLDER: Final = re.compile(r"\{\{(\w+)\}\}")

_EQUAL: Final = frozenset(
    {
        "action",
        "count",
        "events_executed",
        "events_failed",
        "events_removed",
        "executed",
        "executed_events",
        "failed",
        "failed_events",
        "folder",
        "modality",
        "modality_type",
        "mode",
        "pending",
        "pending_events",
        "redone_count",
        "returned_count",
        "skipped",
        "skipped_events",
        "status",
        "total",
        "total_count",
        "undone_count",
    }
)
"""The fields of texts and numbers that every server computes alike. Of other fields, only the type is compared."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A recorded request and its response."""

    id: str
    group: str
    method: str
    path: str
    query: dict[str, Any] | None
    body: Any
    status: int
    response: Any


def exchanges() -> list[Exchange]:
    """All recorded exchanges, in the order in which they were recorded."""
    lines = (RECORDED / "exchanges.jsonl").read_text(encoding="utf-8").splitlines()
    return [Exchange(**json.loads(line)) for line in lines]


class Replay:
    """Sends recorded requests to a server. Keeps the values of placeholders from one exchange to the next."""

    def __init__(self, client: TestClient) -> None:
        self._client = client
        self._values: dict[str, str] = {}

    def differences(self, exchange: Exchange) -> list[str]:
        """Sends a request. Returns the differences between the recorded response and the server's.

        Of an error, only the status and the presence of a `detail` count.
        """
        content = {} if exchange.body is None else {"json": self._filled(exchange.body)}
        response = self._client.request(
            exchange.method, self._filled(exchange.path), params=self._filled(exchange.query), **content
        )
        if response.status_code != exchange.status:
            return [f"status {exchange.status} became {response.status_code}"]
        if exchange.status >= 400:
            return [] if response.json()["detail"] else ["an error without a detail"]
        return list(self._compare(exchange.response, _known_modalities(exchange, response.json()), "", ""))

    def _filled(self, recorded: Any) -> Any:  # noqa: ANN401 - any JSON value
        """A part of a request with the values of its placeholders. Unused ones get a value that the server has not."""
        if isinstance(recorded, str):
            return _PLACEHOLDER.sub(lambda found: self._values.setdefault(found[1], str(uuid4())), recorded)
        if isinstance(recorded, list):
            return [self._filled(item) for item in recorded]
        if isinstance(recorded, dict):
            return {self._filled(key): self._filled(value) for key, value in recorded.items()}
        return recorded

    def _known(self, text: str) -> str:
        """A recorded text with the values of the placeholders that have one."""
        return _PLACEHOLDER.sub(lambda found: self._values.get(found[1], found[0]), text)

    def _compare(self, recorded: Any, given: Any, place: str, name: str) -> Iterator[str]:  # noqa: ANN401
        if recorded == "{{any}}":
            return
        if _kind(recorded) != _kind(given):
            yield f"{place}: {_kind(recorded)} became {_kind(given)}"
        elif isinstance(recorded, dict):
            yield from self._compare_objects(recorded, given, place)
        elif isinstance(recorded, list):
            if len(recorded) != len(given):
                yield f"{place}: {len(recorded)} items became {len(given)}"
            for number, (item, answer) in enumerate(zip(self._aligned(recorded, given), given, strict=False)):
                yield from self._compare(item, answer, f"{place}/{number}", name)
        elif isinstance(recorded, str):
            if not self._matches(recorded, given, name):
                yield f"{place}: {self._known(recorded)!r} became {given!r}"
        elif isinstance(recorded, bool):
            if recorded != given:
                yield f"{place}: {recorded} became {given}"
        elif recorded is not None and (
            (name in _EQUAL and recorded != given) or (isinstance(recorded, int) and given % 1)
        ):
            yield f"{place}: {recorded} became {given}"

    def _compare_objects(self, recorded: Mapping[str, Any], given: Mapping[str, Any], place: str) -> Iterator[str]:
        """Every recorded field has to be there; more fields may. Names that the server makes up match in order."""
        names = {self._known(name): name for name in recorded}
        others = iter([name for name in given if name not in names])
        for known, name in names.items():
            answered = known if known in given else next(others, None) if _PLACEHOLDER.search(known) else None
            if answered is None:
                yield f"{place}/{known}: missing"
                continue
            self._matches(name, answered, "")
            yield from self._compare(recorded[name], given[answered], f"{place}/{answered}", name)

    def _matches(self, recorded: str, given: str, name: str) -> bool:
        """Whether a text is as recorded. Gives placeholders without a value theirs."""
        if recorded == "{{text}}":
            return True
        if recorded == "{{now}}":
            return _is_time(given)
        if not _PLACEHOLDER.search(recorded):
            return recorded == given or name not in _EQUAL
        pattern = _PLACEHOLDER.sub("(.+)", re.escape(self._known(recorded)).replace(r"\{", "{").replace(r"\}", "}"))
        found = re.fullmatch(pattern, given)
        if found is None:
            return False
        self._values |= zip(_PLACEHOLDER.findall(self._known(recorded)), found.groups(), strict=True)
        return True

    def _aligned(self, recorded: list[Any], given: list[Any]) -> list[Any]:
        """The recorded items in the order of the given ones, if all of them have known ids or are texts."""
        if all(isinstance(item, str) for item in (*recorded, *given)):
            known = {self._known(item): item for item in recorded}
            rest = iter([item for value, item in known.items() if value not in given])
            return [known.get(item) or next(rest, "{{text}}") for item in given]
        for name in ("event_id", "message_id"):
            if all(isinstance(item, dict) and name in item for item in (*recorded, *given)):
                by_id = {self._known(item[name]): item for item in recorded}
                if by_id.keys() == {item[name] for item in given} and len(by_id) == len(given) == len(recorded):
                    return [by_id[item[name]] for item in given]
        return recorded


def differing(client: TestClient, recorded: Iterable[Exchange]) -> dict[str, list[str]]:
    """The differences of the exchanges that have any, by id."""
    replay = Replay(client)
    found = {exchange.id: replay.differences(exchange) for exchange in recorded}
    return {exchange_id: differences for exchange_id, differences in found.items() if differences}


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return {str: "text", int: "number", float: "number", list: "array", dict: "object"}[type(value)]


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _known_modalities(exchange: Exchange, response: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A list of modalities without those that UES 0.1 has not."""
    if exchange.path != "/environment/modalities":
        return response
    known = [name for name in response["modalities"] if name in exchange.response["modalities"]]
    return {"modalities": known, "count": len(known)}
