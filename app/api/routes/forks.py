"""/v1/studies/{study}/fork"""

from functools import partial

from fastapi import APIRouter
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanManage, RunLong
from app.api.problems import documented
from app.api.responses import respond
from app.api.routes import COMMON, OF_A_STUDY, WRITES
from app.api.routes.studies import created
from app.api.schemas.forks import ForkRequest
from app.api.schemas.shape import Name
from app.api.schemas.studies import StudyOut
from app.services.use_cases import forks

router = APIRouter(prefix="/v1/studies/{study}", tags=["studies"], route_class=StrictRoute, responses=COMMON)


@router.post(
    "/fork",
    summary="Begin another study as this one was, under other settings",
    response_model=StudyOut,
    responses=OF_A_STUDY | WRITES | documented("study-exists") | {201: {"model": StudyOut, "description": "Forked"}},
)
async def fork_study(study: Name, request: ForkRequest, tx: CanManage, run_long: RunLong) -> Response:
    """Takes over everything up to an event, with its origin. Both ledgers name each other by hash."""
    settings = request.configuration.over
    work = partial(forks.fork, new_name=request.name, at=request.at, settings=settings, reason=request.reason)
    return respond(await run_long(lambda: tx.write_once(work, study, answer=created)))
