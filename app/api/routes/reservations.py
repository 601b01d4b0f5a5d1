"""/v1/studies/{study}/reservations"""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanAsk, CanRead, ResourcesDep
from app.api.problems import documented
from app.api.responses import answer, respond
from app.api.routes import COMMON, OF_A_STUDY, WRITES
from app.api.routes.candidates import CandidateKey
from app.api.schemas.reservations import ReservationIn, ReservationsOut, reservations_out
from app.api.schemas.shape import Name, Reason
from app.domain.reservations import Reservation
from app.services.transactions import Answer
from app.services.use_cases import reservations

router = APIRouter(
    prefix="/v1/studies/{study}/reservations",
    tags=["reservations"],
    route_class=StrictRoute,
    responses=COMMON | OF_A_STUDY,
)


@router.get("", summary="Candidates that somebody will measure without a batch")
def list_reservations(study: Name, tx: CanRead, worker: Annotated[Name | None, Query()] = None) -> ReservationsOut:
    """Who reserved which candidate, when and why."""
    return reservations_out(tx.read(reservations.list_reservations, study, worker))


@router.post(
    "",
    summary="Reserve candidates",
    description="Other asks do not suggest them, and count them as pending. A report of the candidate ends it.",
    response_model=ReservationsOut,
    responses=WRITES | documented("study-not-active", "not-reservable"),
)
def reserve_candidates(study: Name, wanted: ReservationIn, resources: ResourcesDep, tx: CanAsk) -> Response:
    return respond(tx.write_once(reservations.reserve, resources, study, wanted.form(), answer=_reserved))


@router.delete(
    "/{key}",
    summary="Release a candidate",
    response_model=ReservationsOut,
    responses=WRITES | documented("study-not-active", "not-found", "study-not-found", "candidate-not-found"),
)
def release_candidate(
    study: Name,
    key: CandidateKey,
    resources: ResourcesDep,
    tx: CanAsk,
    reason: Annotated[Reason | None, Query()] = None,
) -> Response:
    """It can be suggested to anybody again."""
    return respond(tx.write_once(reservations.release, resources, study, key, reason, answer=_reserved))


def _reserved(reserved: tuple[Reservation, ...]) -> Answer:
    return answer(reservations_out(reserved))
