"""`UESClient` and `AsyncUESClient`, with the same calls."""

from types import TracebackType
from typing import Any, Final, Self, TypeVar, cast

import httpx

from concord_environment_client import resources
from concord_environment_client.endpoints import AsyncResource, Request, Resource
from concord_environment_client.errors import raise_for, translated

T = TypeVar("T")

DEFAULT_URL: Final = "http://127.0.0.1:8000"
DEFAULT_TIMEOUT_S: Final = 30.0


def _options(base_url: str, api_key: str | None, timeout: float, branch: str | None) -> dict[str, Any]:
    headers = {} if api_key is None else {"x-api-key": api_key}
    if branch is not None:
        headers["x-ues-branch"] = branch
    return {"base_url": base_url, "timeout": timeout, "headers": headers}


def _answer(request: Request[T], response: httpx.Response) -> T:
    raise_for(response)
    if request.answer is None:
        return cast("T", response.content)
    return request.answer.validate_json(response.content or b"null")


class _AsyncKeys(resources.Keys, AsyncResource): ...


class _AsyncTime(resources.Time, AsyncResource): ...


class _AsyncSimulationControl(resources.SimulationControl, AsyncResource): ...


class _AsyncEnvironmentStates(resources.EnvironmentStates, AsyncResource): ...


class _AsyncEvents(resources.Events, AsyncResource): ...


class _AsyncScenario(resources.Scenario, AsyncResource): ...


class _AsyncEmail(resources.Email, AsyncResource): ...


class _AsyncSMS(resources.SMS, AsyncResource): ...


class _AsyncChat(resources.Chat, AsyncResource): ...


class _AsyncCalendar(resources.Calendar, AsyncResource): ...


class _AsyncContacts(resources.Contacts, AsyncResource): ...


class _AsyncLocation(resources.Location, AsyncResource): ...


class _AsyncWeather(resources.Weather, AsyncResource): ...


class _AsyncPreferences(resources.Preferences, AsyncResource): ...


class _AsyncAccessLogs(resources.AccessLogs, AsyncResource): ...


class _AsyncWebhooks(resources.Webhooks, AsyncResource): ...


class _Keys(resources.Keys, Resource): ...


class _Time(resources.Time, Resource): ...


class _SimulationControl(resources.SimulationControl, Resource): ...


class _EnvironmentStates(resources.EnvironmentStates, Resource): ...


class _Events(resources.Events, Resource): ...


class _Scenario(resources.Scenario, Resource): ...


class _Email(resources.Email, Resource): ...


class _SMS(resources.SMS, Resource): ...


class _Chat(resources.Chat, Resource): ...


class _Calendar(resources.Calendar, Resource): ...


class _Contacts(resources.Contacts, Resource): ...


class _Location(resources.Location, Resource): ...


class _Weather(resources.Weather, Resource): ...


class _Preferences(resources.Preferences, Resource): ...


class _AccessLogs(resources.AccessLogs, Resource): ...


class _Webhooks(resources.Webhooks, Resource): ...


class AsyncUESClient:
    """Asynchronous client of the environment service. Calls take their fields as keyword arguments.

    `branch` selects a branch of the simulation. Calls raise the errors of `concord_environment_client.errors`.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        api_key: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_S,
        branch: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        options = _options(base_url, api_key, timeout, branch)
        self._http = httpx.AsyncClient(transport=transport, **options)
        self.keys = _AsyncKeys(self)
        self.time = _AsyncTime(self)
        self.simulation = _AsyncSimulationControl(self)
        self.environment = _AsyncEnvironmentStates(self)
        self.events = _AsyncEvents(self)
        self.scenario = _AsyncScenario(self)
        self.email = _AsyncEmail(self)
        self.sms = _AsyncSMS(self)
        self.chat = _AsyncChat(self)
        self.calendar = _AsyncCalendar(self)
        self.contacts = _AsyncContacts(self)
        self.location = _AsyncLocation(self)
        self.weather = _AsyncWeather(self)
        self.preferences = _AsyncPreferences(self)
        self.access_logs = _AsyncAccessLogs(self)
        self.webhooks = _AsyncWebhooks(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def send(self, request: Request[T]) -> T:
        """Sends a call and returns its response. Raises a UESClientError."""
        try:
            response = await self._http.request(
                request.method, request.path, params=request.params, json=request.body, content=request.content
            )
        except httpx.HTTPError as error:
            raise translated(error) from error
        return _answer(request, response)


class UESClient:
    """Client of the environment service. Calls take their fields as keyword arguments.

    `branch` selects a branch of the simulation. Calls raise the errors of `concord_environment_client.errors`.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        api_key: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_S,
        branch: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        options = _options(base_url, api_key, timeout, branch)
        self._http = httpx.Client(transport=transport, **options)
        self.keys = _Keys(self)
        self.time = _Time(self)
        self.simulation = _SimulationControl(self)
        self.environment = _EnvironmentStates(self)
        self.events = _Events(self)
        self.scenario = _Scenario(self)
        self.email = _Email(self)
        self.sms = _SMS(self)
        self.chat = _Chat(self)
        self.calendar = _Calendar(self)
        self.contacts = _Contacts(self)
        self.location = _Location(self)
        self.weather = _Weather(self)
        self.preferences = _Preferences(self)
        self.access_logs = _AccessLogs(self)
        self.webhooks = _Webhooks(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def send(self, request: Request[T]) -> T:
        """Sends a call and returns its response. Raises a UESClientError."""
        try:
            response = self._http.request(
                request.method, request.path, params=request.params, json=request.body, content=request.content
            )
        except httpx.HTTPError as error:
            raise translated(error) from error
        return _answer(request, response)
