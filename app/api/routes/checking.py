"""/v1/candidates/check: what a list would be, before there is a study to upload it to."""

from fastapi import APIRouter

from app.api.dependencies import Known
from app.api.problems import documented
from app.api.routes import COMMON
from app.api.routes.candidates import BODY, Uploaded
from app.api.schemas.candidates import ReceiptOut, finding_out
from app.api.schemas.studies import ColumnOut
from app.services import candidates

router = APIRouter(prefix="/v1/candidates", tags=["candidates"], responses=COMMON)


@router.post(
    "/check",
    summary="Check a list of candidates; nothing is stored",
    responses=documented("unsupported-media-type", "invalid-input", "invalid-candidates"),
    openapi_extra=BODY,
)
def check_candidates(body: Uploaded, known: Known) -> ReceiptOut:
    table = candidates.check(known, body)
    return ReceiptOut(
        stored=False,
        added=len(table),
        candidates=len(table),
        columns=tuple(ColumnOut.model_validate(column) for column in table.columns),
        warnings=tuple(finding_out(finding) for finding in table.warnings),
    )
