"""An async client that is used like a sync one, so that one test covers both."""

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

from nextbatch import Batch, Events, Study, Suggestion
from nextbatch.client import Server

HANDLES = (Server, Study, Batch, Suggestion, Events)


class Waited:
    """A handle whose coroutines run to their end at once, on the event loop of the test."""

    def __init__(self, handle: Any, runner: asyncio.Runner) -> None:
        self._handle = handle
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._handle, name)
        if not callable(found):
            return self._wrapped(found)
        return lambda *args, **kwargs: self._finished(found(*args, **kwargs))

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self._handle, Events):
            return self
        return (self._wrapped(item) for item in self._handle)

    def __next__(self) -> Any:
        return self._runner.run(self._handle.__anext__())

    def __len__(self) -> int:
        return len(self._handle)

    def __getitem__(self, key: Any) -> Any:
        return self._wrapped(self._handle[key])

    def __str__(self) -> str:
        return str(self._handle)

    def __repr__(self) -> str:
        return repr(self._handle)

    def _finished(self, result: Any) -> Any:
        return self._wrapped(self._runner.run(_result(result)) if inspect.iscoroutine(result) else result)

    def _wrapped(self, result: Any) -> Any:
        if isinstance(result, HANDLES):
            return Waited(result, self._runner)
        if isinstance(result, list | tuple) and result and isinstance(result[0], HANDLES):
            return [Waited(item, self._runner) for item in result]
        return result


async def _result(coroutine: Any) -> Any:
    return await coroutine
