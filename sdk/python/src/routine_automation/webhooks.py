"""Verifies the webhook events of the service."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from standardwebhooks import Webhook
from standardwebhooks import WebhookVerificationError as Refusal

from .errors import WebhookVerificationError
from .generated.models import (
    ActionEvent,
    ActionEventType,
    QuestionEvent,
    QuestionEventType,
    RoutinePausedEvent,
    RoutinePausedEventType,
    RunEvent,
    RunEventType,
    WebhookTestEvent,
    WebhookTestEventType,
)

WebhookEvent = RunEvent | ActionEvent | QuestionEvent | RoutinePausedEvent | WebhookTestEvent

_MODELS: dict[str, type[WebhookEvent]] = {
    **{each.value: RunEvent for each in RunEventType},
    **{each.value: ActionEvent for each in ActionEventType},
    **{each.value: QuestionEvent for each in QuestionEventType},
    **{each.value: RoutinePausedEvent for each in RoutinePausedEventType},
    **{each.value: WebhookTestEvent for each in WebhookTestEventType},
}


def verify(
    body: str | bytes, headers: Mapping[str, str], secrets: str | Sequence[str]
) -> WebhookEvent | dict[str, Any]:
    """Returns the event of a webhook that was signed in the last five minutes with the secret, or one of several.

    An event of a type that this release does not know is a dictionary. `body` is the raw body as it arrived. A body that was parsed and written again has other bytes and fails.
    """
    if not isinstance(body, (str, bytes)):
        raise TypeError("Give the raw body of the request, as text or bytes: it is signed as it was sent, before parsing.")
    given = {name.lower(): value for name, value in headers.items()}
    reason: Exception | None = None
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        try:
            Webhook(secret).verify(body, given)
        except Refusal as refusal:
            reason = refusal
            continue
        event: dict[str, Any] = json.loads(body)
        model = _MODELS.get(event["type"])
        return event if model is None else model.from_dict(event)
    raise WebhookVerificationError(str(reason or "There is no secret.")) from reason
