"""Verifies the webhook events of the service."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from standardwebhooks import Webhook
from standardwebhooks import WebhookVerificationError as Refusal

from .errors import WebhookVerificationError
from .generated.models import RoutinePausedEvent, RunEvent


def verify(body: str | bytes, headers: Mapping[str, str], secrets: str | Sequence[str]) -> RunEvent | RoutinePausedEvent:
    """Returns the event of a webhook that was signed in the last five minutes with the secret, or one of several.

    `body` is the raw body as it arrived. A body that was parsed and written again has other bytes and fails.
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
        event = json.loads(body)
        return RoutinePausedEvent.from_dict(event) if event["type"] == "routine.paused" else RunEvent.from_dict(event)
    raise WebhookVerificationError(str(reason or "There is no secret.")) from reason
