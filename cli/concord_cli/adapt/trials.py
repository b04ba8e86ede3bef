"""The trials in which an adapted agent works, and the gateway's addresses for its calls."""

import json
import logging
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from pydantic import ValidationError

from concord.agent.peers import PeerList
from concord.trust.proxy_urls import PROXY_PATH
from concord.wire.assignment import ASSIGNMENT_KEY, Assignment
from concord_gateway.proxy.endpoint import NO_CALLEE

logger = logging.getLogger(__name__)

MAX_TRIALS: Final = 16
"""The limit of known trials. A call without a trace context belongs to the latest trial."""

LOOKUP_S: Final = 10.0
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


@dataclass(slots=True)
class _Trial:
    """A trial of the agent. `base`: the gateway's URL; None: not requested yet, "": its calls are not observed."""

    assignment: Assignment
    base: str | None = None
    places: dict[str, str] = field(default_factory=dict)
    """By a peer's address, the gateway's URL for calls to it; "" for calls that the gateway does not carry."""


class Trials:
    """Reads the agent's trials from the messages to it, and asks the gateway for the addresses of calls."""

    def __init__(self, role: str, http: httpx.AsyncClient) -> None:
        self._role = role
        self._http = http
        self._trials: OrderedDict[str, _Trial] = OrderedDict()

    def learn(self, body: bytes) -> None:
        """Adds the trial of a message to the agent, if the message has an assignment with a token for the agent."""
        if ASSIGNMENT_KEY.encode() not in body:
            return
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            return
        for metadata in _with_assignment(document):
            found = Assignment.from_metadata(metadata)
            if found is not None and found.token is not None and found.agent_id == self._role:
                known = self._trials.get(found.trace_id)
                if known is None or known.assignment.token != found.token:
                    self._trials[found.trace_id] = _Trial(found)
                self._trials.move_to_end(found.trace_id)
                while len(self._trials) > MAX_TRIALS:
                    self._trials.popitem(last=False)

    async def place_of(self, url: str, traceparent: str) -> str:
        """The gateway's URL for a call to `url`; "" if it is not a call to a participant of an open trial."""
        named = _TRACEPARENT.fullmatch(traceparent)
        trace_id = named[1] if named is not None and named[1] in self._trials else next(reversed(self._trials), "")
        trial = self._trials.get(trace_id)
        if trial is None or trial.assignment.token is None:
            return ""
        token = trial.assignment.token.get_secret_value()
        try:
            if trial.base is None:
                trial.base = await self._base(trial.assignment, token)
            if url not in trial.places:
                trial.places[url] = await self._lookup(trial, url, token) if trial.base else ""
        except httpx.HTTPError as error:
            logger.warning("the gateway cannot be asked: %s", type(error).__name__)
            return ""
        return trial.places[url]

    async def _base(self, assignment: Assignment, token: str) -> str:
        """The gateway's URL, which precedes the token in the addresses of peers; "" for direct addresses."""
        if assignment.peers_url is None:
            return ""
        answer = await self._http.get(assignment.peers_url, headers={"authorization": f"Bearer {token}"})
        try:
            peers = PeerList.model_validate_json(answer.content).peers if answer.is_success else []
        except ValidationError:
            peers = []
        path = f"{PROXY_PATH}/{token}/"
        return next((peer.url.partition(path)[0] for peer in peers if path in peer.url), "")

    async def _lookup(self, trial: _Trial, url: str, token: str) -> str:
        answer = await self._http.get(f"{trial.base}{PROXY_PATH}/{token}/{NO_CALLEE}", params={"address": url})
        if answer.status_code == httpx.codes.FORBIDDEN:
            self._trials.pop(trial.assignment.trace_id, None)
        found = answer.json() if answer.is_success else {}
        return str(found.get("url", "")) if isinstance(found, dict) else ""


def without_query(url: str) -> str:
    """The address in a URL."""
    return urlsplit(url)._replace(query="", fragment="").geturl()


def _with_assignment(document: object) -> Iterator[Mapping[str, Any]]:
    """The objects in a document that have an assignment."""
    pending = [document]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            if ASSIGNMENT_KEY in each:
                yield each
            pending.extend(each.values())
        elif isinstance(each, list):
            pending.extend(each)
