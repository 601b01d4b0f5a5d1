"""The composition root: settings in, a ready application out. Everything is built here and passed downwards."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from prometheus_client import Counter
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware
from threadpoolctl import threadpool_limits

from app import failpoints, logs
from app.api import problems
from app.api.admissions import Admissions
from app.api.compression import Compressed
from app.api.gauges import Gauges
from app.api.limits import ConcurrencyLimit, LongWork, RateLimit, RefusedSignIns
from app.api.live import LedgerPoller, Streams
from app.api.metrics import new_metrics
from app.api.middleware import BodyAwaited, BodyLimited, BodyTimed, HostAllowed, RequestLog
from app.api.openapi import openapi_document
from app.api.plain_reports import PlainReports
from app.api.routes import (
    archives,
    audit,
    backtests,
    batches,
    borrowing,
    candidates,
    checking,
    deletion,
    events,
    forks,
    heads,
    keys,
    list_backtests,
    manual,
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
from app.domain.errors import Refusal
from app.periodic import Periodic
from app.services import key_uses
from app.services.key_uses import KeyUses
from app.services.maintenance import AnswerExpiry, drop_old_backtests
from app.services.resources import open_resources
from app.services.workflows.purge import erase_due
from app.settings import Settings, read_settings
from app.sso import routes as sso
from app.sso.provider import Provider
from app.webhooks import routes as webhooks
from app.webhooks.dispatcher import Dispatcher
from app.webhooks.rows import count as count_deliveries
from app.webhooks.targets import read_targets

# In the order in which people read of them.
ROUTES = (
    *(studies, deletion, forks, borrowing, candidates, structures, checking, batches, observations, reservations),
    *(reading, backtests, list_backtests, events, heads, archives, webhooks, keys, audit, operations, session, sso),
    *(page, manual),
)

# By default a busy thread holds the interpreter for 5 ms. With many such threads the event loop hardly got a turn.
SWITCH_SECONDS = 0.0005

HOUR = 3600.0  # seconds

# What pages of other origins may send and read. Cookies are not among it: they send a key, or a ticket for a stream.
CROSS_ORIGIN: dict[str, Any] = {
    "allow_methods": ("GET", "PUT", "POST", "PATCH", "DELETE"),
    "allow_headers": ("Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID"),
    "expose_headers": ("ETag", "Location", "Retry-After", "X-Request-ID"),
}

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
        docs_url=None,  # that page loads scripts from another host
        redoc_url=None,
        redirect_slashes=False,  # a redirect would not be a problem document
        separate_input_output_schemas=False,  # one name for a shape, in requests and in answers
        telemetry={"tracing": False, "metrics": False, "logs": False},  # ours are `metrics` and `logs`
    )
    threadpool_limits(1)  # for what little this process computes beside its workers
    app.state.resources = open_resources(settings)
    app.state.metrics = new_metrics()
    app.state.admissions = Admissions()
    app.state.key_uses = KeyUses(app.state.resources.database)
    app.state.sso_provider = Provider(settings) if settings.sso_issuer else None
    app.state.webhook_targets = read_targets(settings.webhook_targets)
    _limit(app, settings)
    _measure(app)
    for routes in dict.fromkeys((observations, reading, batches, *ROUTES)):  # tried in turn, so the busiest come first
        app.router.routes.extend(routes.router.routes)  # as they are: `include_router` would build each anew
    problems.install(app)
    app.add_middleware(Compressed)
    app.add_middleware(BodyAwaited)
    app.add_middleware(BodyTimed, seconds=settings.body_seconds)
    app.add_middleware(BodyLimited, most_bytes=settings.max_body_bytes, most_json_bytes=settings.max_json_bytes)
    app.add_middleware(PlainReports, seconds=settings.body_seconds, most_bytes=settings.max_json_bytes)
    app.add_middleware(HostAllowed, hosts=settings.allowed_hosts)
    if settings.cors_origins:
        app.add_middleware(CORSMiddleware, allow_origins=settings.cors_origins, **CROSS_ORIGIN)
    app.add_middleware(RequestLog, metrics=app.state.metrics)  # the last added is the outermost
    app.openapi = lambda: openapi_document(app)  # type: ignore[method-assign]
    return app


def _measure(app: FastAPI) -> None:
    """What is measured beside requests."""
    registry, state = app.state.metrics.registry, app.state
    state.gauges = Gauges(registry, state.resources, state.long_work, state.streams)
    state.gauges.count("nextbatch_webhook_deliveries", "Messages to webhooks", count_deliveries)
    state.webhook_attempts = Counter(
        "nextbatch_webhook_attempts", "Attempts to deliver a message", ["outcome"], registry=registry
    )


def _limit(app: FastAPI, settings: Settings) -> None:
    """How much this process takes on at the same time."""
    app.state.streams = Streams(settings.max_streams, settings.max_streams_per_key)
    app.state.poller = LedgerPoller()
    app.state.shared_answers = SharedAnswers()
    app.state.study_looks = StudyLooks()
    app.state.rate_limit = RateLimit(settings.max_requests_per_second)
    app.state.refused_sign_ins = RefusedSignIns()
    asks = settings.engine_threads + settings.engine_queue
    app.state.ask_limit = ConcurrencyLimit(asks, max(1, asks - max(1, asks // 4)))
    app.state.long_work = LongWork(settings.database_connections // 2, settings.max_waiting, settings.work_seconds)


def _periodic_work(app: FastAPI) -> list[Periodic]:
    """What a process does by itself beside answering requests."""
    database, settings = app.state.resources.database, app.state.resources.settings
    return [
        Periodic("old answers", HOUR, AnswerExpiry(database, settings.keep_answers_days).run),
        Periodic("erasing", HOUR, lambda: erase_due(database, settings.delete_days)),
        Periodic("old backtests", HOUR, lambda: drop_old_backtests(database)),
        Periodic("key uses", key_uses.SECONDS, app.state.key_uses.write),
    ]


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    sys.setswitchinterval(SWITCH_SECONDS)
    app.state.streams.end_on_signals()
    app.state.gauges.start()
    works = _periodic_work(app)
    for work in works:
        work.start()
    dispatcher = Dispatcher(app.state.resources, app.state.webhook_targets, app.state.webhook_attempts)
    if app.state.webhook_targets.urls:
        dispatcher.start()
    yield
    app.state.streams.ending = True
    await run_in_threadpool(dispatcher.close)
    app.state.gauges.close()
    for work in works:
        await run_in_threadpool(work.close)
    with suppress(Refusal):  # the database is away
        await run_in_threadpool(app.state.key_uses.write)
    app.state.long_work.close()
    app.state.resources.close()
