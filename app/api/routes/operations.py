"""For operators: is the server alive, is it ready, how is it doing."""

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from app.api.bodies import function_name
from app.api.dependencies import ResourcesDep
from app.api.problems import documented
from app.api.schemas.shape import Shape
from app.services.maintenance import must_be_ready

router = APIRouter(
    tags=["operations"],
    responses=documented("misdirected-host", "internal-error"),
    generate_unique_id_function=function_name,
)


class Fine(Shape):
    status: Literal["ok"] = "ok"


class ComputeOut(Shape):
    """The compute workers of the process that answers; none if it computes itself."""

    kind: Literal["here", "processes", "ray"] = Field(description="Where this process has batches computed.")
    workers: int
    ready: int
    running: int = Field(description="Computations that run or wait for a worker.")
    deaths: int = Field(description="Workers that died and were replaced.")
    nodes: int = Field(description="Machines, or nodes of the Ray cluster, that have workers which are ready.")


class Ready(Fine):
    compute: ComputeOut


@router.get("/healthz", summary="The process answers")
async def health() -> Fine:
    """Says nothing about the database: `/readyz` does."""
    return Fine()


@router.get(
    "/readyz",
    summary="The database is reachable and its schema is the newest",
    responses=documented("database-unavailable", "database-busy", "database-replaced", "overloaded"),
)
def ready(resources: ResourcesDep) -> Ready:
    """Also tells how many compute workers there are and how many have died."""
    must_be_ready(resources.database)
    return Ready(compute=ComputeOut.model_validate(resources.compute.status()))


@router.get(
    "/metrics",
    summary="Metrics in Prometheus' text format",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Metrics"}},
)
def metrics(request: Request) -> Response:
    """Of this process; of all processes if there are several."""
    request.app.state.gauges.refresh()
    return Response(request.app.state.metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")
