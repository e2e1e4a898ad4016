"""The client: calls, waits and pages on top of the operations that are generated from the API's document."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import httpx

from .errors import RasError, TimeoutError
from .generated.api.routines import create_routine, read_routine
from .generated.api.runs import read_run, run_routine
from .generated.client import AuthenticatedClient
from .generated.models import (
    CreatedRoutine,
    CreateRoutine,
    Failure,
    RoutineDetail,
    Run,
    RunDetail,
    RunRoutineBody,
)
from .generated.types import Response
from .transport import Transport

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

_END_STATES = ("succeeded", "failed", "cancelled", "skipped")

#: Seconds that one request waits for the end of a run. Many proxies cut requests after 60 seconds.
_LONGEST_WAIT = 25


class Envelope(Protocol[T_co]):
    """The response of any operation that succeeded."""

    @property
    def data(self) -> T_co: ...


def data(response: Response[Any] | Envelope[T] | Failure | None) -> T:
    """Returns the data of a generated call: `data(list_models.sync(client=ras.client))`."""
    parsed: Any = response.parsed if isinstance(response, Response) else response
    if parsed is None or isinstance(parsed, Failure):
        raise RasError("The response is none of the service.")
    result: T = parsed.data
    return result


class Ras:
    """A client of the service, for one project.

    Pass `client` to the functions in `routine_automation.generated.api`. Its calls are repeated after a failure that
    may pass, and raise the errors of `routine_automation.errors`.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = 60,
        max_retries: int = 2,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        key = api_key or os.environ.get("RAS_API_KEY")
        address = base_url or os.environ.get("RAS_API_URL")
        if not key:
            raise RasError("Give api_key, or set RAS_API_KEY.")
        if not address or not address.startswith(("https://", "http://")):
            raise RasError("Give base_url, or set RAS_API_URL: an address that begins with https:// or http://.")
        self.client = AuthenticatedClient(base_url=address.rstrip("/"), token=key)
        self.client.set_httpx_client(
            httpx.Client(
                base_url=address.rstrip("/"),
                headers={"Authorization": f"Bearer {key}", "Prefer": "error-details"},
                timeout=timeout,
                transport=Transport(transport or httpx.HTTPTransport(), max_retries),
            )
        )

    def create_routine(self, body: CreateRoutine) -> CreatedRoutine:
        """Saves a draft."""
        return data(create_routine.sync(client=self.client, body=body))

    def read_routine(self, routine_id: str) -> RoutineDetail:
        return data(read_routine.sync(routine_id, client=self.client))

    def run_routine(self, routine_id: str, body: RunRoutineBody | None = None) -> Run:
        """Starts a run by hand."""
        return data(run_routine.sync(routine_id, client=self.client, body=body or RunRoutineBody()))

    def read_run(self, run_id: str) -> RunDetail:
        return data(read_run.sync(run_id, client=self.client))

    def wait(self, run_id: str, timeout: float | None = None) -> RunDetail:
        """Waits for the end of a run, and returns the run. Raises `TimeoutError` after `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _LONGEST_WAIT if end is None else min(_LONGEST_WAIT, end - time.monotonic())
            prefer = f"wait={max(int(left), 1)}, error-details"
            run: RunDetail = data(read_run.sync(run_id, client=self.client, prefer=prefer))
            if run.state.value in _END_STATES:
                return run
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"The run has not ended within {timeout} s.")

    def pages(self, operation: Callable[..., Any], *ids: str, **query: Any) -> Iterator[Sequence[Any]]:
        """Yields the pages of a list, each read when it is needed: `ras.pages(list_runs.sync, state=...)`."""
        while True:
            parsed = operation(*ids, client=self.client, page=_BODY, **query)
            items: Sequence[Any] = data(parsed)
            yield items
            cursor = parsed.page.next_cursor if parsed.page else None
            if cursor is None:
                return
            query["cursor"] = cursor

    def items(self, operation: Callable[..., Any], *ids: str, **query: Any) -> Iterator[Any]:
        """Yields the items of a list, newest first, over all its pages."""
        for page in self.pages(operation, *ids, **query):
            yield from page

    def __enter__(self) -> Ras:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.client.get_httpx_client().close()


class _Body(str):
    """A value of `page` that fits every list, although each list has a generated type of its own."""

    @property
    def value(self) -> str:
        return str(self)


_BODY = _Body("body")
