"""/v1/studies/{study}/observations"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from app.api.dependencies import CanRead, CanReport, IdempotencyKey, Known, SeenVersion, writing_as
from app.api.problems import documented, invalid_payload
from app.api.routes import COMMON, OF_A_STUDY, WRITES, respond
from app.api.schemas.observations import (
    CorrectedOut,
    CorrectionIn,
    ObservationOut,
    ObservationPage,
    ReportedOut,
    ReportIn,
    ReportsIn,
    RetractionIn,
    corrected_out,
    observation_out,
    reported_out,
)
from app.api.schemas.shape import Name, answer
from app.api.spooling import Spooled, spooled
from app.api.strict_json import StrictRoute
from app.domain.access import Scope
from app.domain.answers import Answer
from app.domain.errors import UnsupportedMediaType
from app.domain.reports import Report
from app.services import json_text, observations, sheets
from app.services.correct import Corrected
from app.services.intake.csv_rows import csv_text
from app.services.report import DryRun, Reported, must_not_be_empty, report
from app.services.transactions import Writing

router = APIRouter(
    prefix="/v1/studies/{study}/observations",
    tags=["observations"],
    route_class=StrictRoute,
    responses=COMMON | OF_A_STUDY,
)

Number = Annotated[int, Path(ge=1, lt=2**31, description="The observation's number.")]
Sent = Annotated[Spooled, Depends(spooled(Scope.REPORT, json_in_memory=True))]
_NOT_FOUND = documented("not-found", "study-not-found", "observation-not-found", "candidate-not-found")
_CHANGES = WRITES | _NOT_FOUND | documented("precondition-required", "precondition-failed")
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "One result, many under `observations`, or a filled-in CSV sheet.",
        "content": {
            "application/json": {
                "schema": {
                    "anyOf": [{"$ref": "#/components/schemas/ReportIn"}, {"$ref": "#/components/schemas/ReportsIn"}]
                },
                "examples": {
                    "one": {"value": {"suggestion": "3-1", "value": 0.83}},
                    "many": {"value": {"observations": [{"candidate": "A7-42", "value": 0.83}]}},
                    "failed": {"value": {"suggestion": "3-2", "failed": {"reason": "vial broke", "retry": True}}},
                },
            },
            "text/csv": {"schema": {"type": "string"}, "example": "suggestion,value\n3-1,0.83\n"},
        },
    }
}


async def reports(request: Request, body: Sent, idempotency_key: IdempotencyKey = None) -> tuple[Writing, list[Report]]:
    """The reports of a body, whichever way they came, and what to write them with."""
    write = writing_as(request, body.actor, idempotency_key, body.digest)
    if body.json is not None:
        return write, _reports(body)
    return write, await run_in_threadpool(_reports, body)


def _reports(body: Spooled) -> list[Report]:
    if body.media_type == "text/csv":
        found = sheets.read_sheet(body.files[""])
        must_not_be_empty(found)
        return found
    if body.media_type != "application/json":
        raise UnsupportedMediaType("Observations come as application/json or text/csv.")
    value = json_text.loads(body.files[""].read_bytes() if body.json is None else body.json)
    try:
        if isinstance(value, dict) and "observations" in value:
            return [one.report() for one in ReportsIn.model_validate(value).observations]
        return [ReportIn.model_validate(value).report()]
    except ValidationError as error:
        raise invalid_payload(error.errors()) from None


@router.post(
    "",
    summary="Report one result, many, or a filled-in sheet",
    response_model=ReportedOut,
    responses=WRITES
    | documented("already-observed", "unsupported-media-type")
    | {201: {"model": ReportedOut, "description": "Recorded"}},
    openapi_extra=_BODY,
)
def report_observations(
    study: Name,
    sent: Annotated[tuple[Writing, list[Report]], Depends(reports)],
    known: Known,
    duplicates: Annotated[
        Literal["keep", "skip"], Query(description="What to do with a value that looks reported before.")
    ] = "keep",
    dry_run: Annotated[bool, Query(description="Check everything, store nothing.")] = False,
) -> Response:
    (write, found), skip = sent, duplicates == "skip"
    try:
        return respond(write.once(_reported, report, known, study, found, skip_repeated=skip, dry_run=dry_run))
    except DryRun as dry:
        return respond(answer(reported_out(dry.reported, stored=False)))


@router.get(
    "",
    summary="Observations, as they stand or every version; JSON or CSV",
    response_model=ObservationPage,
    responses=_NOT_FOUND
    | {200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "Observations"}},
)
def list_observations(
    study: Name,
    read: CanRead,
    known: Known,
    versions: Literal["current", "all"] = "current",
    candidate: Annotated[str | None, Query(max_length=200)] = None,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
    format: Literal["json", "csv"] = "json",  # noqa: A002
) -> Response:
    wanted = partial(observations.list_observations, every_version=versions == "all", candidate=candidate)

    def page(start: int) -> list[ObservationOut]:
        found = read(wanted, known, study, start, limit)
        return [observation_out(one, key) for one, key in found]

    shown = page(after)  # a refusal must come before the first byte
    if format == "csv":
        header, rows = list(ObservationOut.model_fields), _rows(shown, page)
        return StreamingResponse(csv_text(header, rows), media_type="text/csv; charset=utf-8")
    following = shown[-1].observation if len({one.observation for one in shown}) == limit else None
    return respond(answer(ObservationPage(observations=tuple(shown), next=following)))


@router.get("/{number}", summary="Every version of an observation, oldest first", responses=_NOT_FOUND)
def read_observation(study: Name, number: Number, read: CanRead, known: Known, response: Response) -> ObservationPage:
    found = read(observations.versions, known, study, number)
    response.headers["ETag"] = f'"{found[-1][0].version}"'
    return ObservationPage(observations=tuple(observation_out(one, key) for one, key in found), next=None)


@router.post(
    "/{number}/corrections",
    summary="Correct a value, with a reason; the old one is kept",
    response_model=CorrectedOut,
    responses=_CHANGES,
)
def correct(
    study: Name, number: Number, correction: CorrectionIn, known: Known, write: CanReport, version: SeenVersion
) -> Response:
    value, reason = correction.value, correction.reason
    return respond(write.once(_corrected, observations.correct_one, known, study, number, version, value, reason))


@router.post(
    "/{number}/retraction",
    summary="Take an observation back, with a reason",
    response_model=CorrectedOut,
    responses=_CHANGES,
)
def retract(
    study: Name, number: Number, retraction: RetractionIn, known: Known, write: CanReport, version: SeenVersion
) -> Response:
    return respond(write.once(_corrected, observations.retract_one, known, study, number, version, retraction.reason))


def _rows(shown: list[ObservationOut], page: Callable[[int], list[ObservationOut]]) -> Iterator[list[Any]]:
    """Cells of this page and of all that follow."""
    while shown:
        yield from (list(one.model_dump().values()) for one in shown)
        shown = page(shown[-1].observation)


def _reported(reported: Reported) -> Answer:
    new = any(one.status not in ("duplicate", "skipped") for one in reported.placed)
    return answer(reported_out(reported), 201 if new else 200)


def _corrected(done: tuple[Corrected, str]) -> Answer:
    corrected, key = done
    return answer(corrected_out(corrected, key), etag=f'"{corrected.observation.version}"')
