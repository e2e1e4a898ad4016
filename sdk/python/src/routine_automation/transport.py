"""Sends the client's requests, with retries, one idempotency key for all attempts at a call, and exceptions."""

from __future__ import annotations

import email.utils
import json
import random
import time
import uuid

import httpx

from .errors import ConnectionError, TimeoutError, kind_of

#: If the service asks for a longer wait, the caller gets the error, which states it, without a retry.
_LONGEST_RETRY_AFTER = 60.0

#: Calls that are never repeated: a second one would act again, or fail although the first succeeded.
_ONCE = ("/cancel", "DELETE /v1/connections/", "DELETE /v1/skills/")


class Transport(httpx.BaseTransport):
    """Sends a request again after a failure that may pass, at most `max_retries` times."""

    def __init__(self, inner: httpx.BaseTransport, max_retries: int) -> None:
        self._inner = inner
        self._max_retries = max_retries

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST" and "idempotency-key" not in request.headers:
            request.headers["Idempotency-Key"] = str(uuid.uuid4())
        attempt = 0
        while True:
            pause = random.uniform(0.5, 1) * min(0.5 * 2**attempt, 8)
            try:
                response = self._inner.handle_request(request)
                response.read()
            except httpx.TimeoutException as error:
                if attempt >= self._max_retries or not _is_repeatable(request):
                    raise TimeoutError("No response within the time of the call.") from error
            except httpx.TransportError as error:
                if attempt >= self._max_retries or not _is_repeatable(request):
                    raise ConnectionError("The service cannot be reached.") from error
            else:
                if response.status_code < 300 or response.status_code == 304:
                    return response
                wait = _retry_after(response)
                if attempt >= self._max_retries or not _may_pass(request, response) or (wait or 0) > _LONGEST_RETRY_AFTER:
                    raise _error_of(response, wait)
                pause = pause if wait is None else wait
            attempt += 1
            time.sleep(pause)

    def close(self) -> None:
        self._inner.close()


def _is_repeatable(request: httpx.Request) -> bool:
    if "if-match" in request.headers or "if-none-match" in request.headers:
        return request.method == "GET"
    target = f"{request.method} {request.url.path}"
    return not any(target.startswith(each) or target.endswith(each) for each in _ONCE)


def _may_pass(request: httpx.Request, response: httpx.Response) -> bool:
    status = response.status_code
    if status in (408, 429):
        return True
    return _is_repeatable(request) and (status >= 500 or (status == 409 and _code_of(response) == "idempotency_in_progress"))


def _body_of(response: httpx.Response) -> object:
    try:
        return response.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        return None


def _code_of(response: httpx.Response) -> object:
    body = _body_of(response)
    error = body.get("error") if isinstance(body, dict) else None
    return error.get("code") if isinstance(error, dict) else None


def _error_of(response: httpx.Response, retry_after: float | None) -> Exception:
    status = response.status_code
    if status < 400:
        return ConnectionError("The response is none of the service.")
    return kind_of(status)(status, _body_of(response), retry_after, response.headers.get("x-request-id"))


def _retry_after(response: httpx.Response) -> float | None:
    """Reads a number of seconds or an HTTP date (RFC 9110, section 10.2.3)."""
    header = response.headers.get("retry-after", "")
    try:
        return max(float(header), 0)
    except ValueError:
        date = email.utils.parsedate_tz(header)
        return None if date is None else max(email.utils.mktime_tz(date) - time.time(), 0)
