"""The errors that calls raise, one class for each kind of error response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class RasError(Exception):
    """The base of all errors of this package."""


class ConnectionError(RasError):
    """No response of the service arrived. The request may still have been carried out."""


class TimeoutError(RasError):
    """The time limit of a call or of a wait has passed."""


class WebhookVerificationError(RasError):
    """The webhook was not signed with the secret, or was signed more than five minutes ago."""


@dataclass(frozen=True)
class ErrorDetail:
    """One fault of a request: the path of the field, and a message."""

    param: str
    message: str


class ApiError(RasError):
    """An error response of the service. Programs read its `code`; the list of codes may grow."""

    def __init__(self, status: int, body: Any, retry_after: float | None, request_id: str | None = None) -> None:
        fields = body if isinstance(body, dict) else {}
        error = fields.get("error")
        error = error if isinstance(error, dict) else {}
        super().__init__(error.get("message") or f"The service responded with {status}.")
        self.status = status
        self.code: str = error.get("code") or "unknown"
        self.details = [ErrorDetail(each["param"], each["message"]) for each in error.get("details") or []]
        self.request_id: str | None = fields.get("requestId") or request_id
        self.retry_after = retry_after

    @property
    def param(self) -> str | None:
        """The first faulty field."""
        return self.details[0].param if self.details else None


class BadRequestError(ApiError):
    """400: the request is not valid; see `details`."""


class AuthenticationError(ApiError):
    """401: the API key is unknown."""


class PlanError(ApiError):
    """402: the plan does not allow it."""


class PermissionError(ApiError):
    """403: the API key lacks the scope, or the operation needs a person."""


class NotFoundError(ApiError):
    """404: the project of the API key has no such resource."""


class ConflictError(ApiError):
    """409: the state of the resource does not permit it."""


class PreconditionFailedError(ApiError):
    """412: the resource has changed since the version in `if_match`."""


class KeyReusedError(ApiError):
    """422: the idempotency key was used for another request."""


class RateLimitError(ApiError):
    """429: too many requests; try again after `retry_after` seconds."""


class ServerError(ApiError):
    """500 and above: a fault of the service."""


_KINDS: dict[int, type[ApiError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    402: PlanError,
    403: PermissionError,
    404: NotFoundError,
    409: ConflictError,
    412: PreconditionFailedError,
    422: KeyReusedError,
    429: RateLimitError,
}


def kind_of(status: int) -> type[ApiError]:
    """Returns the class of an error by its status."""
    return _KINDS.get(status, ServerError if status >= 500 else ApiError)
