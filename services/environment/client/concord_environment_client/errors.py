"""What can go wrong with a call to the environment service, named for what the caller can do about it."""

from typing import Any

import httpx


class UESClientError(Exception):
    """Any failure of a call."""


class UESConnectionError(UESClientError):
    """The service cannot be reached."""


class UESTimeoutError(UESClientError):
    """The service did not answer in time."""


class APIError(UESClientError):
    """The service answered with an error."""

    def __init__(self, status_code: int, detail: Any) -> None:  # noqa: ANN401 - whatever the service says
        super().__init__(f"HTTP {status_code}: {detail}")
        self.status_code = status_code
        self.detail = detail


class AuthenticationError(APIError):
    """401: the key is missing, unknown or revoked."""


class PermissionDeniedError(APIError):
    """403: the key does not grant what it takes; the detail names it."""


class NotFoundError(APIError):
    """404: what the call names is not there."""


class ConflictError(APIError):
    """409: the state of things does not allow it."""


class ValidationError(APIError):
    """422: a field is wrong; the detail says which."""


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
    """Raises the error that an answer stands for; returns for a good one."""
    if response.is_success:
        return
    try:
        body = response.json()
    except ValueError:
        body = response.text[:500]
    detail = body["detail"] if isinstance(body, dict) and "detail" in body else body
    error = ServerError if response.is_server_error else _BY_STATUS.get(response.status_code, APIError)
    raise error(response.status_code, detail)


def translated(error: httpx.HTTPError) -> UESClientError:
    """The error of the transport as one of these."""
    if isinstance(error, httpx.TimeoutException):
        return UESTimeoutError(str(error) or "the service did not answer in time")
    return UESConnectionError(str(error) or type(error).__name__)
