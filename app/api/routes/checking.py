"""/v1/candidates/check: check a list before there is a study to upload it to."""

from functools import partial

from fastapi import APIRouter

from app.api.bodies import StrictRoute
from app.api.dependencies import ResourcesDep, RunLong
from app.api.problems import documented
from app.api.routes import COMMON
from app.api.routes.candidates import BODY, Uploaded
from app.api.schemas.candidates import UploadReceiptOut, finding_out
from app.api.schemas.columns import ColumnOut
from app.services.workflows.upload import check

router = APIRouter(prefix="/v1/candidates", tags=["candidates"], route_class=StrictRoute, responses=COMMON)


@router.post(
    "/check",
    summary="Check a list of candidates; nothing is stored",
    responses=documented("unsupported-media-type", "invalid-input", "invalid-candidates"),
    openapi_extra=BODY,
)
async def check_candidates(body: Uploaded, resources: ResourcesDep, run_long: RunLong) -> UploadReceiptOut:
    """Finds the same mistakes as an upload, and guesses what each column is for. It needs no study."""
    with resources.memory.reserve(body.memory):
        table = await run_long(partial(check, resources, body))
    return UploadReceiptOut(
        stored=False,
        added=len(table),
        candidates=len(table),
        columns=tuple(ColumnOut.model_validate(column) for column in table.columns),
        warnings=tuple(finding_out(finding) for finding in table.warnings),
    )
