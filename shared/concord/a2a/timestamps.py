"""Adds the zone to timestamps in an agent's answer that lack it, because the A2A SDK refuses them.

A2A's timestamps are in UTC. fasta2a, and with it pydantic-ai, sends timestamps without a zone.
"""

import json
import re
from typing import Any, Final

_NAIVE: Final = re.compile(rb'"timestamp"\s*:\s*"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?"')
_DATA: Final = b"data:"
_HOLDERS: Final = ("task", "statusUpdate")


def with_zones(line: bytes) -> bytes:
    """An answer or a line of it, with a zone in the timestamp of a task's status. Other text is unchanged."""
    if _NAIVE.search(line) is None:
        return line
    prefix = _DATA if line.startswith(_DATA) else b""
    try:
        document = json.loads(line.removeprefix(prefix))
    except (ValueError, RecursionError):
        return line
    result = document.get("result") if isinstance(document, dict) else None
    for holder in _holders(result):
        status = holder.get("status")
        if isinstance(status, dict) and isinstance(moment := status.get("timestamp"), str):
            status["timestamp"] = moment if _has_zone(moment) else f"{moment}Z"
    ending = line[len(line.rstrip(b"\r\n")) :]
    return prefix + json.dumps(document).encode() + ending


def _holders(result: object) -> list[dict[str, Any]]:
    """The objects in a result that may have a task's status, in either version of A2A."""
    if not isinstance(result, dict):
        return []
    return [result, *(each for name in _HOLDERS if isinstance(each := result.get(name), dict))]


def _has_zone(moment: str) -> bool:
    return re.search(r"(?:[zZ]|[+-]\d\d:\d\d)$", moment) is not None
