"""What calls raise: one class for each kind of error that the service responds with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class RasError(Exception):
    """The base of all errors of this package."""


class ConnectionError(RasError):
    """No response of the service arrived; it may have done what was asked all the same."""


class TimeoutError(RasError):
    """The time of a call, or of a wait, ran out."""


class WebhookVerificationError(RasError):
    """A webhook that was not signed with the secret, or more than five minutes ago."""


@dataclass(frozen=True)
class ErrorDetail:
    """One fault of a request: the path of the field, and what is wrong with it."""

    param: str
    message: str


class ApiError(RasError):
    """An error that the service responded with. `code` names it for programs; the list may grow."""

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
        """The first field that is wrong."""
        return self.details[0].param if self.details else None


class BadRequestError(ApiError):
    """400: the request is not valid; `details` says where."""


class AuthenticationError(ApiError):
    """401: there is no such API key."""


class PlanError(ApiError):
    """402: the plan does not cover it."""


class PermissionError(ApiError):
    """403: the API key lacks the scope, or the operation wants a person."""


class NotFoundError(ApiError):
    """404: there is no such thing in the project of the API key."""


class ConflictError(ApiError):
    """409: the state of the thing does not permit it."""


class PreconditionFailedError(ApiError):
    """412: it has changed since the version in `if_match`."""


class KeyReusedError(ApiError):
    """422: the idempotency key was used for another request."""


class RateLimitError(ApiError):
    """429: too many requests; `retry_after` says when there is room."""


class ServerError(ApiError):
    """500 and above: the fault is not the caller's."""


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
