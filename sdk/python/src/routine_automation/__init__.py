"""A client of the Routine Automation Service."""

from .client import Ras, data
from .errors import (
    ApiError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ConnectionError,
    ErrorDetail,
    KeyReusedError,
    NotFoundError,
    PermissionError,
    PlanError,
    PreconditionFailedError,
    RasError,
    RateLimitError,
    ServerError,
    TimeoutError,
    WebhookVerificationError,
)
from .webhooks import WebhookEvent, verify

__all__ = [
    "ApiError",
    "AuthenticationError",
    "BadRequestError",
    "ConflictError",
    "ConnectionError",
    "ErrorDetail",
    "KeyReusedError",
    "NotFoundError",
    "PermissionError",
    "PlanError",
    "PreconditionFailedError",
    "Ras",
    "RasError",
    "RateLimitError",
    "ServerError",
    "TimeoutError",
    "WebhookEvent",
    "WebhookVerificationError",
    "data",
    "verify",
]
