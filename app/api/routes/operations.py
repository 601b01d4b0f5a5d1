"""For operators: is the server alive, is it ready, how is it doing."""

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from app.api.dependencies import CanRead, ResourcesDep
from app.api.problems import documented
from app.api.routes import COMMON
from app.api.schemas.shape import Shape
from app.services.maintenance import must_be_ready

router = APIRouter(tags=["operations"], responses=documented("misdirected-host", "internal-error"))


class Fine(Shape):
    status: Literal["ok"] = "ok"


@router.get("/healthz", summary="The process answers")
async def health() -> Fine:
    return Fine()


class ServerOut(Shape):
    server: str = Field(description="The id of this server: the origin of what it exports.")
    public_key: str = Field(description="Ed25519, in hexadecimal digits. Its archives are signed with it.")


@router.get("/v1/server", summary="Who this server is, and the key that checks its signatures", responses=COMMON)
async def identify(resources: ResourcesDep, _tx: CanRead) -> ServerOut:
    return ServerOut(server=resources.signer.server, public_key=resources.signer.public_key)


@router.get(
    "/readyz",
    summary="The database is reachable and its schema is the newest",
    responses=documented("database-unavailable", "database-busy", "overloaded"),
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
