"""A whole study in one file: /v1/studies/{study}/archive and /v1/archives"""

from functools import partial
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import FileResponse, Response

from app.api.dependencies import AtLength, CanExport, Known
from app.api.downloads import download
from app.api.problems import documented
from app.api.routes import COMMON, OF_A_STUDY, WRITES, respond
from app.api.routes.studies import created
from app.api.schemas.shape import Name
from app.api.schemas.studies import StudyOut
from app.api.spooling import Spooled, spooled, uploading
from app.domain.access import Scope
from app.domain.errors import UnsupportedMediaType
from app.services import archive, restore
from app.services.transactions import Writing

router = APIRouter(prefix="/v1", tags=["archives"], responses=COMMON)

ZIP = "application/zip"
_BINARY = {ZIP: {"schema": {"type": "string", "format": "binary"}}}


@router.get(
    "/studies/{study}/archive",
    summary="The whole study in one file",
    response_class=FileResponse,
    responses=OF_A_STUDY | {200: {"content": _BINARY, "description": "The archive"}},
)
async def export_study(study: Name, read: CanExport, known: Known, at_length: AtLength) -> Response:
    def write(path: Path) -> None:
        read(archive.write_archive, known, study, path)

    return await at_length(lambda: download(write, ZIP, f"{study}.nextbatch.zip"))


@router.post(
    "/archives",
    summary="Take in a study from its archive",
    response_model=StudyOut,
    responses=WRITES
    | documented("study-exists", "study-deleted", "study-not-found", "unsupported-media-type")
    | {201: {"model": StudyOut, "description": "Taken in"}},
    openapi_extra={"requestBody": {"required": True, "content": _BINARY}},
)
async def import_study(
    body: Annotated[Spooled, Depends(spooled(Scope.MANAGE))],
    known: Known,
    write: Annotated[Writing, uploading(Scope.MANAGE)],
    at_length: AtLength,
) -> Response:
    if body.media_type != ZIP:
        raise UnsupportedMediaType(f"An archive comes as {ZIP}.")
    return respond(await at_length(partial(restore.take_in, known, write, body.files[""], created)))
