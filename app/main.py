"""The composition root: settings in, a ready application out. Everything is built here and passed downwards."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from threadpoolctl import threadpool_limits

from app import failpoints, logs
from app.api import problems
from app.api.admissions import Admissions
from app.api.limits import ConcurrencyLimit, LongWork, RateLimit
from app.api.live import LedgerPoller, Streams
from app.api.metrics import new_metrics
from app.api.middleware import BodyAwaited, BodyLimited, BodyTimed, HostAllowed, RequestLog
from app.api.openapi import openapi_document
from app.api.routes import (
    archives,
    audit,
    backtests,
    batches,
    borrowing,
    candidates,
    checking,
    events,
    forks,
    heads,
    keys,
    observations,
    operations,
    page,
    reading,
    reservations,
    session,
    structures,
    studies,
)
from app.api.shared_answers import SharedAnswers, StudyLooks
from app.services.resources import open_resources
from app.settings import Settings, read_settings

# In the order in which people read of them.
ROUTES = (
    *(studies, forks, borrowing, candidates, structures, checking, batches, observations, reservations, reading),
    *(backtests, events, heads, archives, keys, audit, operations, session, page),
)

# By default a busy thread holds the interpreter for 5 ms. With many such threads the event loop hardly got a turn.
SWITCH_SECONDS = 0.0005

DESCRIPTION = """The next batch of experiments, as a service.

Errors are problem documents (RFC 9457) with a stable `code`. Every write takes an `Idempotency-Key`."""


def create_app(settings: Settings | None = None) -> FastAPI:
    """The server; its database must exist and be migrated (`nextbatch serve` does both)."""
    settings = settings or read_settings()
    logs.configure(settings.log_format, settings.log_level)
    failpoints.arm(settings.failpoints)
    app = FastAPI(
        title="Nextbatch",
        version=version("nextbatch-server"),
        description=DESCRIPTION,
        lifespan=_lifespan,
        generate_unique_id_function=lambda route: route.name,  # what generated clients call their functions
        docs_url=None,  # that page loads scripts from another host
        redoc_url=None,
        redirect_slashes=False,  # a redirect would not be a problem document
        separate_input_output_schemas=False,  # one name for a shape, in requests and in answers
    )
    threadpool_limits(1)  # one BLAS thread per computation: more of them slow each other down
    app.state.resources = open_resources(settings)
    app.state.metrics = new_metrics()
    app.state.admissions = Admissions()
    _limit(app, settings)
    for routes in dict.fromkeys((observations, reading, batches, *ROUTES)):  # tried in turn, so the busiest come first
        app.include_router(routes.router)
    list(iter_route_contexts(app.routes))  # FastAPI would build its routes during the first requests
    problems.install(app)
    app.add_middleware(BodyAwaited)
    app.add_middleware(BodyTimed, seconds=settings.body_seconds)
    app.add_middleware(BodyLimited, most_bytes=settings.max_body_bytes, most_json_bytes=settings.max_json_bytes)
    app.add_middleware(HostAllowed, hosts=settings.allowed_hosts)
    app.add_middleware(RequestLog, metrics=app.state.metrics)  # the last added is the outermost
    app.openapi = lambda: openapi_document(app)  # type: ignore[method-assign]
    return app


def _limit(app: FastAPI, settings: Settings) -> None:
    """How much this process takes on at the same time."""
    app.state.streams = Streams(settings.max_streams, settings.max_streams_per_key)
    app.state.poller = LedgerPoller()
    app.state.shared_answers = SharedAnswers()
    app.state.study_looks = StudyLooks()
    app.state.rate_limit = RateLimit(settings.max_requests_per_second)
    asks = settings.engine_threads + settings.engine_queue
    app.state.ask_limit = ConcurrencyLimit(asks, max(1, asks - max(1, asks // 4)))
    app.state.long_work = LongWork(settings.database_connections // 2, settings.max_waiting, settings.work_seconds)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    sys.setswitchinterval(SWITCH_SECONDS)
    app.state.streams.end_on_signals()
    yield
    app.state.streams.ending = True
    app.state.long_work.close()
    app.state.resources.close()
