"""For operators: is the server alive, is it ready, how is it doing."""

from typing import Literal

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.api.dependencies import ResourcesDep
from app.api.problems import documented
from app.api.schemas.shape import Shape
from app.services.maintenance import must_be_ready

router = APIRouter(tags=["operations"], responses=documented("misdirected-host", "internal-error"))


class Fine(Shape):
    status: Literal["ok"] = "ok"


@router.get("/healthz", summary="The process answers")
async def health() -> Fine:
    return Fine()


@router.get(
    "/readyz",
    summary="The database is reachable and its schema is the newest",
    responses=documented("database-unavailable", "database-busy", "database-replaced", "overloaded"),
)
def ready(resources: ResourcesDep) -> Fine:
    must_be_ready(resources.database)
    return Fine()


@router.get(
    "/metrics",
    summary="Metrics in Prometheus' text format",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Metrics"}},
)
def metrics(request: Request) -> Response:
    return Response(request.app.state.metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")
