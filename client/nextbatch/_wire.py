"""The way to one server: requests that can be sent again, sent until there is an answer worth having."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any
from uuid import uuid4

import httpx

from ._retrying import RETRIED, Retries, is_hopeless
from .errors import Unreachable, problem_of

Job = Callable[[Any], Coroutine[Any, Any, None]]


class Wire(ABC):
    """The way to one server: address, key, time-outs and retries."""

    def __init__(self, url: str, key: str | None, timeout: httpx.Timeout, retries: Retries) -> None:
        self.url = url.rstrip("/")
        self.timeout = timeout
        self.retries = retries
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    http: httpx.Client | httpx.AsyncClient

    def request(self, method: str, path: str, *, wait: float = 0.0, **parts: Any) -> httpx.Request:
        """A request that can be sent again; every write carries a key by which the server knows it again.

        `wait` is how long the server may think before it answers, beyond the usual time-out.
        """
        headers = {**self._headers, **parts.pop("headers", {})}
        if method != "GET":
            headers.setdefault("Idempotency-Key", uuid4().hex)
        limits = self.timeout.as_dict()
        limits["read"] = None if limits["read"] is None else limits["read"] + wait
        timeout = httpx.Timeout(**limits)
        params = _spelled(parts.pop("params", {}))
        return self.http.build_request(
            method, f"{self.url}/v1{path}", headers=headers, timeout=timeout, params=params, **parts
        )

    async def call(self, method: str, path: str, **parts: Any) -> httpx.Response:
        """Send and read the answer; raises `Problem` for a refusal and `Unreachable` when none comes."""
        return await self.deliver(self.request(method, path, **parts))

    async def deliver(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        """Send until there is an answer worth having."""
        for pause in (*self.retries.pauses(), None):
            try:
                response = await self.send(request, stream=stream)
            except httpx.TransportError as error:
                if pause is None or is_hopeless(error):
                    raise Unreachable(f"No answer from {self.url}: {error or type(error).__name__}") from error
                await self.pause(pause)
                continue
            if response.is_success:
                return response
            await self.read(response)
            if pause is None or response.status_code not in RETRIED:
                raise problem_of(response)
            await self.pause(max(pause, self.retries.asked(response)))
        raise AssertionError("the last attempt returns or raises")

    @abstractmethod
    async def send(self, request: httpx.Request, *, stream: bool) -> httpx.Response: ...

    @abstractmethod
    async def read(self, response: httpx.Response) -> None: ...

    @abstractmethod
    async def pause(self, seconds: float) -> None: ...

    @abstractmethod
    def lines(self, response: httpx.Response) -> Any: ...

    @abstractmethod
    async def next_line(self, lines: Any) -> str | None: ...

    @abstractmethod
    async def close(self, what: Any) -> None: ...

    @abstractmethod
    async def evaluate(self, function: Callable[[Any], Any], argument: Any) -> Any: ...

    @abstractmethod
    async def each(self, job: Job, items: Iterable[Any], workers: int) -> None: ...


def _spelled(params: Mapping[str, Any]) -> dict[str, Any]:
    """Query parameters without those that were not given."""
    return {name: value for name, value in params.items() if value is not None}
