"""The clients `UESClient` and `AsyncUESClient`, with the same calls."""

from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

import httpx

from concord_environment_client import resources
from concord_environment_client.endpoints import AsyncSender, Request, S, Sender
from concord_environment_client.errors import raise_for, translated
from concord_environment_client.modalities.calendar import CalendarCalls
from concord_environment_client.modalities.chat import ChatCalls
from concord_environment_client.modalities.contacts import ContactsCalls
from concord_environment_client.modalities.email import EmailCalls
from concord_environment_client.modalities.location import LocationCalls
from concord_environment_client.modalities.preferences import PreferencesCalls
from concord_environment_client.modalities.sms import SMSCalls
from concord_environment_client.modalities.weather import WeatherCalls

T = TypeVar("T")

DEFAULT_URL: Final = "http://127.0.0.1:8000"
DEFAULT_TIMEOUT_S: Final = 30.0


def _options(base_url: str, api_key: str | None, timeout: float) -> dict[str, Any]:
    headers = {} if api_key is None else {"x-api-key": api_key}
    return {"base_url": base_url, "timeout": timeout, "headers": headers}


def _parsed(request: Request[T], response: httpx.Response) -> T:
    raise_for(response)
    return request.response.validate_json(response.content or b"null")


class _Resources(Generic[S]):
    """All resources of the service, as attributes of a client."""

    def __init__(self, sender: S) -> None:
        self.keys: resources.Keys[S] = resources.Keys(sender)
        self.time: resources.Time[S] = resources.Time(sender)
        self.simulation: resources.SimulationControl[S] = resources.SimulationControl(sender)
        self.environment: resources.EnvironmentStates[S] = resources.EnvironmentStates(sender)
        self.events: resources.Events[S] = resources.Events(sender)
        self.scenario: resources.Scenario[S] = resources.Scenario(sender)
        self.email: EmailCalls[S] = EmailCalls(sender)
        self.sms: SMSCalls[S] = SMSCalls(sender)
        self.chat: ChatCalls[S] = ChatCalls(sender)
        self.calendar: CalendarCalls[S] = CalendarCalls(sender)
        self.contacts: ContactsCalls[S] = ContactsCalls(sender)
        self.location: LocationCalls[S] = LocationCalls(sender)
        self.weather: WeatherCalls[S] = WeatherCalls(sender)
        self.preferences: PreferencesCalls[S] = PreferencesCalls(sender)
        self.access_logs: resources.AccessLogs[S] = resources.AccessLogs(sender)
        self.people: resources.People[S] = resources.People(sender)


class AsyncUESClient(_Resources[AsyncSender]):
    """An asynchronous client of the environment service, such as `await ues.email.send(to_addresses=[…])`.

    Calls take their fields as keyword arguments and raise the errors of `concord_environment_client.errors`. They do
    not retry: an action could execute twice. `timeout` is in seconds.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        api_key: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_S,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(self)
        options = _options(base_url, api_key, timeout)
        self._http = httpx.AsyncClient(transport=transport, **options)

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
        """Sends a request and returns the parsed response. Raises a UESClientError."""
        try:
            response = await self._http.request(request.method, request.path, params=request.params, json=request.body)
        except httpx.HTTPError as error:
            raise translated(error) from error
        return _parsed(request, response)


class UESClient(_Resources[Sender]):
    """A client of the environment service, such as `ues.email.send(to_addresses=[…])`.

    Calls take their fields as keyword arguments and raise the errors of `concord_environment_client.errors`. They do
    not retry: an action could execute twice. `timeout` is in seconds.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        api_key: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_S,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(self)
        options = _options(base_url, api_key, timeout)
        self._http = httpx.Client(transport=transport, **options)

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
        """Sends a request and returns the parsed response. Raises a UESClientError."""
        try:
            response = self._http.request(request.method, request.path, params=request.params, json=request.body)
        except httpx.HTTPError as error:
            raise translated(error) from error
        return _parsed(request, response)
