"""A whole study in one file: /v1/studies/{study}/archive, /v1/archives, and who signs them: /v1/server"""

from functools import partial
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import Field
from starlette.responses import FileResponse, Response

from app.api.bodies import Spooled, StrictRoute, spooled, uploading
from app.api.dependencies import CanExport, CanRead, ResourcesDep, RunLong
from app.api.problems import documented
from app.api.responses import download, respond
from app.api.routes import COMMON, OF_A_STUDY, WRITES
from app.api.routes.studies import created
from app.api.schemas.shape import Name, Shape
from app.api.schemas.studies import StudyOut
from app.domain.access import Scope
from app.domain.errors import UnsupportedMediaType
from app.services.transactions import WriteTransactions
from app.services.use_cases.archive import write_archive
from app.services.use_cases.audit import record_export
from app.services.workflows.import_archive import import_archive

router = APIRouter(prefix="/v1", tags=["archives"], route_class=StrictRoute, responses=COMMON)

ZIP = "application/zip"
_BINARY = {ZIP: {"schema": {"type": "string", "format": "binary"}}}


@router.get(
    "/studies/{study}/archive",
    summary="The whole study in one file",
    response_class=FileResponse,
    responses=OF_A_STUDY
    | documented("storage-full", "outcome-unknown", "schema-changed")
    | {200: {"content": _BINARY, "description": "The archive"}},
)
async def export_study(study: Name, tx: CanExport, resources: ResourcesDep, run_long: RunLong) -> Response:
    """A zip file with the ledger and all arrays, signed by this server. Any server can import and check it."""

    def write(path: Path) -> None:
        tx.record(record_export, study)
        tx.read(write_archive, resources, study, path)

    return await run_long(lambda: download(write, ZIP, f"{study}.nextbatch.zip"))


@router.post(
    "/archives",
    summary="Import a study from its archive",
    response_model=StudyOut,
    responses=WRITES
    | documented("study-exists", "study-deleted", "study-not-found", "unsupported-media-type", "unverified-archive")
    | {201: {"model": StudyOut, "description": "Imported"}},
    openapi_extra={"requestBody": {"required": True, "content": _BINARY}},
)
async def import_study(
    body: Annotated[Spooled, Depends(spooled(Scope.MANAGE))],
    resources: ResourcesDep,
    tx: Annotated[WriteTransactions, uploading(Scope.MANAGE)],
    run_long: RunLong,
    accept_unverified: Annotated[
        bool, Query(description="Import it even if no server that this one trusts has signed it.")
    ] = False,
    name: Annotated[Name | None, Query(description="Another name for the study; by default its own.")] = None,
) -> Response:
    """Checks every event as if it were sent now. An archive of an unknown server needs `accept_unverified`, and is
    marked for ever.
    """
    if body.media_type != ZIP:
        raise UnsupportedMediaType(f"Send the archive as {ZIP}.")
    work = partial(import_archive, accept_unverified=accept_unverified, name=name)
    importing = partial(work, resources, tx, body.files[""], created)
    return respond(await run_long(importing))


class ServerOut(Shape):
    server: str = Field(description="The id of this server: the origin of what it exports.")
    public_key: str = Field(description="Ed25519, in hexadecimal digits. Its archives are signed with it.")


@router.get("/server", summary="Who this server is, and the key that checks its signatures")
async def identify(resources: ResourcesDep, _tx: CanRead) -> ServerOut:
    """Other servers that trust this public key import its archives without a further flag."""
    return ServerOut(server=resources.signer.server, public_key=resources.signer.public_key)
