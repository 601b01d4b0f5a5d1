"""One core for both clients.

Everything in this package that speaks to the server is written once, as a coroutine over a `Wire`. There are two wires:
`Awaiting` waits as coroutines do; `Blocking` waits where it stands, so its coroutines never suspend and `finish` runs
them to their end without an event loop. `both` turns a coroutine method into an ordinary one on a blocking handle:

    class Study(Handle[W]):
        @both
        async def best(self) -> Best | None: ...

    study.best()          # Study[Blocking]: a Best
    await study.best()    # Study[Awaiting]: the coroutine of a Best

Inside, coroutines call the wire and private coroutines, never a `both` method: its kind is not known there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload

from ._awaiting import Awaiting
from ._blocking import Blocking, finish
from ._wire import Wire

P = ParamSpec("P")
T = TypeVar("T")
W = TypeVar("W", bound=Wire)


class Handle(Generic[W]):
    """Something on the server, and the way there."""

    def __init__(self, wire: W) -> None:
        self._wire = wire


class both(Generic[P, T]):  # noqa: N801  (a decorator, like property)
    """A method written once, as a coroutine: blocking on a blocking handle, to be awaited on an awaiting one."""

    def __init__(self, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self.method = method
        functools.update_wrapper(cast("Any", self), method)

    @overload
    def __get__(self, handle: None, owner: Any) -> both[P, T]: ...
    @overload
    def __get__(self, handle: Handle[Blocking], owner: Any) -> Callable[P, T]: ...
    @overload
    def __get__(self, handle: Handle[Awaiting], owner: Any) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, handle: Handle[Any] | None, owner: Any) -> Any:
        if handle is None:
            return self
        bound = functools.partial(self.method, handle)
        if isinstance(handle._wire, Awaiting):  # noqa: SLF001
            return functools.update_wrapper(bound, self.method)

        @functools.wraps(self.method)
        def waiting(*args: P.args, **kwargs: P.kwargs) -> T:
            return finish(bound(*args, **kwargs))

        return waiting
