"""Tests without the service: retries against a server of the test's own, and signatures."""

import json
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any, get_args

import httpx
import pytest
from standardwebhooks import Webhook

from routine_automation import (
    ConflictError,
    ConnectionError,
    Ras,
    RasError,
    ServerError,
    WebhookEvent,
    WebhookVerificationError,
    verify,
)
from routine_automation.generated import models
from routine_automation.generated.api.runs import cancel_run

SECRET = "whsec_c2VjcmV0IG9mIHRoZSBjaGVjayBvZiB0aGUgU0RL"
EVENT: dict[str, Any] = {
    "type": "routine.paused",
    "timestamp": "2026-11-25T07:00:00.000Z",
    "data": {"routineId": "r", "projectId": "p", "name": "n", "state": "paused", "reason": "w", "runId": None},
}

Answer = Callable[[httpx.Request], httpx.Response]


def failure(status: int, code: str, **headers: str) -> httpx.Response:
    return httpx.Response(status, headers=headers, json={"error": {"code": code, "message": "No."}, "requestId": "req-1"})


def client(*answers: httpx.Response | Exception) -> tuple[Ras, list[httpx.Request]]:
    requests: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        answer = answers[len(requests) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return Ras("ras_1", "http://localhost", transport=httpx.MockTransport(respond)), requests


def test_a_failure_that_may_pass_is_repeated_under_one_key() -> None:
    wait = {"Retry-After": "0"}
    ras, requests = client(
        failure(503, "service_unavailable", **wait),
        httpx.ConnectError("cut"),
        failure(404, "routine_not_found"),
    )
    with pytest.raises(RasError):
        ras.run_routine("rtn_1")
    assert len(requests) == 3
    assert len({each.headers["idempotency-key"] for each in requests}) == 1


def test_what_cannot_be_done_twice_is_sent_once() -> None:
    ras, requests = client(failure(503, "service_unavailable"))
    with pytest.raises(ServerError):
        cancel_run.sync("run_1", client=ras.client)
    assert len(requests) == 1


def test_a_refusal_is_not_repeated() -> None:
    ras, requests = client(failure(409, "routine_archived"))
    with pytest.raises(ConflictError):
        ras.run_routine("rtn_1")
    assert len(requests) == 1


def test_the_end_of_all_attempts_is_an_error_of_the_connection() -> None:
    ras, _ = client(*[httpx.ConnectError("cut")] * 3)
    with pytest.raises(ConnectionError):
        ras.read_run("run_1")


def test_a_webhook_is_verified_by_one_of_several_secrets() -> None:
    body = json.dumps(EVENT)
    now = datetime.now(timezone.utc)
    headers = {
        "Webhook-Id": "whd_1",
        "Webhook-Timestamp": str(int(now.timestamp())),
        "Webhook-Signature": Webhook(SECRET).sign("whd_1", now, body),
    }
    other = "whsec_b3RoZXIgc2VjcmV0IG9mIHRoZSBjaGVjayBvZiBTREs="
    assert verify(body, headers, [other, SECRET]).data.name == "n"  # type: ignore[union-attr]
    with pytest.raises(WebhookVerificationError):
        verify(body + " ", headers, SECRET)
    with pytest.raises(WebhookVerificationError):
        verify(body, {}, SECRET)
    with pytest.raises(TypeError, match="raw body"):
        verify(EVENT, headers, SECRET)  # type: ignore[arg-type]


def signed(event: dict[str, Any]) -> tuple[str, dict[str, str]]:
    body = json.dumps(event)
    now = datetime.now(timezone.utc)
    signature = Webhook(SECRET).sign("whd_1", now, body)
    return body, {"webhook-id": "whd_1", "webhook-timestamp": str(int(now.timestamp())), "webhook-signature": signature}


def test_each_event_has_a_model_and_an_unknown_one_is_a_dictionary() -> None:
    known = {name for name in dir(models) if name.endswith("Event") and hasattr(models, f"{name}Type")}
    # A run's event has a model of its own as the response of `read_run_event`.
    assert {model.__name__ for model in get_args(WebhookEvent)} == known - {"RunWebhookEvent"}
    ids = {"routineId": "r", "projectId": "p"}
    test: dict[str, Any] = {**EVENT, "type": "webhook.test", "data": {**ids, "name": "n"}}
    assert isinstance(verify(*signed(test), SECRET), models.WebhookTestEvent)
    held = {**ids, "id": "a", "runId": "u", "state": "of a later release", "reason": None, "toolName": "t"}
    data = {**held, "connectionId": "c", "expiresAt": EVENT["timestamp"], "url": "https://x.example"}
    assert isinstance(verify(*signed({**EVENT, "type": "action.held", "data": data}), SECRET), models.ActionEvent)
    later = {**EVENT, "type": "routine.of_a_later_release"}
    assert verify(*signed(later), SECRET) == later


def test_a_word_that_a_later_release_adds_to_a_list_is_read() -> None:
    state = models.ListRunsState("of_a_later_release")
    assert [state.value, str(state), state] == ["of_a_later_release"] * 3
    assert models.ListRunsState("failed") is models.ListRunsState.FAILED
    with pytest.raises(ValueError):
        models.ListRunsState(5)


def test_a_client_needs_a_key_and_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAS_API_KEY", raising=False)
    monkeypatch.delenv("RAS_API_URL", raising=False)
    with pytest.raises(RasError, match="RAS_API_KEY"):
        Ras()
    with pytest.raises(RasError, match="RAS_API_URL"):
        Ras("ras_1", "localhost")
