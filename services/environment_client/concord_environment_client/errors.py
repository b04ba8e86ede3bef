"""The errors that the clients raise."""

from typing import Any

import httpx


class UESClientError(Exception):
    """Base class of the errors that the clients raise."""


class UESConnectionError(UESClientError):
    """The service cannot be reached."""


class UESTimeoutError(UESClientError):
    """The service did not respond within the timeout."""


class APIError(UESClientError):
    """The service responded with an error status. `detail` is the `detail` of the response body, or else the body.

    `retry_after`: the seconds after which the call may be sent again, None if the service names none.
    """

    def __init__(self, status_code: int, detail: Any, retry_after: int | None = None) -> None:  # noqa: ANN401 - any JSON value
        super().__init__(f"HTTP {status_code}: {detail}")
        self.status_code = status_code
        self.detail = detail
        self.retry_after = retry_after


class AuthenticationError(APIError):
    """401: the key is missing, unknown or revoked."""


class PermissionDeniedError(APIError):
    """403: the key lacks the permission that the detail names."""


class NotFoundError(APIError):
    """404: the call names something that does not exist."""


class ConflictError(APIError):
    """409: the current state does not allow the call."""


class ValidationError(APIError):
    """422: a field is invalid; the detail names it."""


class ServerError(APIError):
    """5xx: the service failed."""


_BY_STATUS: dict[int, type[APIError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    422: ValidationError,
}


def raise_for(response: httpx.Response) -> None:
    """Raises the APIError for a response with an error status."""
    if response.is_success:
        return
    try:
        body = response.json()
    except ValueError:
        body = response.text[:500]
    detail = body["detail"] if isinstance(body, dict) and "detail" in body else body
    error = ServerError if response.is_server_error else _BY_STATUS.get(response.status_code, APIError)
    after = response.headers.get("retry-after", "")
    raise error(response.status_code, detail, int(after) if after.isascii() and after.isdecimal() else None)


def translated(error: httpx.HTTPError) -> UESClientError:
    """The UESClientError for an error of httpx."""
    if isinstance(error, httpx.TimeoutException):
        return UESTimeoutError(str(error) or "the service did not respond within the timeout")
    return UESConnectionError(str(error) or type(error).__name__)
