"""One implementation for both clients.

Each method is written once, as a coroutine. The decorator `sync_and_async` makes it an ordinary method on a handle with
a `SyncConnection`, and leaves it a coroutine on a handle with an `AsyncConnection`:

    class Study(Handle[ConnectionT]):
        @sync_and_async
        async def best(self) -> Best | None: ...

    study.best()          # Study[SyncConnection]: a Best
    await study.best()    # Study[AsyncConnection]: a coroutine of a Best

Inside this package, call the connection and private coroutines, never a decorated method: it is a coroutine only on one
kind of handle.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload

from ._connection import AsyncConnection, Connection, SyncConnection, run_sync

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")
A = TypeVar("A")
ConnectionT = TypeVar("ConnectionT", bound=Connection)


class Handle(Generic[ConnectionT]):
    """Something on the server, and the connection to it."""

    def __init__(self, connection: ConnectionT) -> None:
        self._connection = connection


class sync_and_async(Generic[P, T]):  # noqa: N801  (a decorator, like property)
    """A method that blocks on a sync handle and is awaited on an async one."""

    def __init__(self, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self.method = method
        functools.update_wrapper(cast("Any", self), method)

    @overload
    def __get__(self, handle: None, owner: Any) -> sync_and_async[P, T]: ...
    @overload
    def __get__(self, handle: Handle[SyncConnection], owner: Any) -> Callable[P, T]: ...
    @overload
    def __get__(self, handle: Handle[AsyncConnection], owner: Any) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, handle: Handle[Any] | None, owner: Any) -> Any:
        if handle is None:
            return self
        bound = functools.partial(self.method, handle)
        if isinstance(handle._connection, AsyncConnection):  # noqa: SLF001
            return functools.update_wrapper(bound, self.method)

        @functools.wraps(self.method)
        def blocking(*args: P.args, **kwargs: P.kwargs) -> T:
            return run_sync(bound(*args, **kwargs))

        return blocking


class sync_or_async(Generic[S, A]):  # noqa: N801
    """As `sync_and_async`, for a method whose types depend on its arguments: `S` and `A` say how it can be called.

    async def _read(self, *, as_frame: bool = False) -> Any: ...

    read = sync_or_async[ReadList, AwaitList](_read)
    """

    def __init__(self, method: Callable[..., Coroutine[Any, Any, Any]]) -> None:
        self._plain = sync_and_async(method)
        functools.update_wrapper(cast("Any", self), method)

    @overload
    def __get__(self, handle: None, owner: Any) -> sync_or_async[S, A]: ...
    @overload
    def __get__(self, handle: Handle[SyncConnection], owner: Any) -> S: ...
    @overload
    def __get__(self, handle: Handle[AsyncConnection], owner: Any) -> A: ...
    def __get__(self, handle: Handle[Any] | None, owner: Any) -> Any:
        return self if handle is None else self._plain.__get__(handle, owner)
