"""/v1/studies/{study}/structures"""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanRead, ResourcesDep, RunLong
from app.api.problems import documented
from app.api.routes import COMMON, OF_A_STUDY
from app.api.schemas.shape import Name
from app.services.use_cases.candidates import read_smiles

router = APIRouter(prefix="/v1/studies/{study}", tags=["candidates"], route_class=StrictRoute, responses=COMMON)

SVG = "image/svg+xml"
# Opened by itself, the picture runs nothing and loads nothing.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "Cache-Control": "private, max-age=86400",
}
Pixels = Annotated[int, Query(ge=50, le=1000)]


@router.get(
    "/structures/{key:path}",
    summary="The structure of a candidate's molecule, as SVG",
    response_class=Response,
    responses=OF_A_STUDY
    | documented("candidate-not-found", "study-not-found")
    | {
        200: {"content": {SVG: {"schema": {"type": "string"}}}, "description": "The picture"},
        204: {"description": "No column of the study holds molecules"},
    },
)
async def draw_structure(
    study: Name,
    key: Annotated[str, Path(min_length=1, max_length=200, description="The candidate's own key.")],
    tx: CanRead,
    resources: ResourcesDep,
    run_long: RunLong,
    column: Annotated[str, Query(description="A column of molecules; by default the first.")] = "",
    width: Pixels = 250,
    height: Pixels = 200,
) -> Response:
    """204 if no column holds molecules; the server needs its extra `chem`. Beyond 150 atoms the picture says so."""

    def drawn() -> Response:
        smiles = tx.read(read_smiles, resources, study, key, column)
        if smiles is None:
            return Response(status_code=204)
        picture = resources.structures.draw(smiles, width, height)
        return Response(picture, media_type=SVG, headers=HEADERS)

    return await run_long(drawn)
