"""/v1/studies"""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from app.api.dependencies import CanManage, CanRead, SeenVersion
from app.api.problems import documented
from app.api.routes import COMMON, OF_A_STUDY, WRITES, respond
from app.api.schemas.shape import Name, Reason, answer
from app.api.schemas.studies import StudyChange, StudyOut, StudyPage, StudySettings, study_out
from app.api.strict_json import StrictRoute
from app.domain.answers import Answer
from app.domain.studies import Study, StudyState
from app.services import studies

router = APIRouter(prefix="/v1/studies", tags=["studies"], route_class=StrictRoute, responses=COMMON)

KeyId = Annotated[str, Path(pattern=r"^[0-9a-f]{12}$", description="The part of a key between its underscores.")]


@router.get("", summary="List the studies this key may see")
def list_studies(
    read: CanRead,
    state: StudyState | None = None,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> StudyPage:
    page = read(studies.list_studies, state, after, limit)
    return StudyPage(
        studies=tuple(study_out(study) for study in page), next=page[-1].id if len(page) == limit else None
    )


@router.put(
    "/{study}",
    summary="Create a study; the same again finds it",
    response_model=StudyOut,
    responses=WRITES
    | documented("study-exists", "study-deleted", "study-not-found")
    | {201: {"model": StudyOut, "description": "Created"}},
)
def create_study(study: Name, settings: StudySettings, write: CanManage) -> Response:
    return respond(write.once(created, studies.create, study, settings.configuration()))


@router.get("/{study}", summary="Read a study", response_model=StudyOut, responses=OF_A_STUDY)
def read_study(study: Name, read: CanRead) -> Response:
    return respond(_study(read(studies.find, study)))


@router.patch(
    "/{study}",
    summary="Pause, resume, archive, or change settings",
    response_model=StudyOut,
    responses=OF_A_STUDY
    | WRITES
    | documented("precondition-required", "precondition-failed", "forbidden-transition", "conflict"),
)
def change_study(study: Name, change: StudyChange, write: CanManage, version: SeenVersion) -> Response:
    state, settings = change.new_state(), change.apply_to
    return respond(write.once(_study, studies.change, study, version, state, settings, change.reason))


@router.delete(
    "/{study}",
    status_code=204,
    summary="Delete a study; a tombstone stays",
    responses=OF_A_STUDY | WRITES | documented("forbidden-transition"),
)
def delete_study(study: Name, write: CanManage, reason: Annotated[Reason | None, Query()] = None) -> Response:
    return respond(write.once(_nothing, studies.delete, study, reason))


@router.put(
    "/{study}/grants/{key_id}",
    status_code=204,
    summary="Let a key see the study",
    responses=OF_A_STUDY | WRITES | documented("key-not-found", "study-not-found"),
)
def grant(study: Name, key_id: KeyId, write: CanManage) -> Response:
    return respond(write.once(_nothing, studies.grant, study, key_id))


@router.delete(
    "/{study}/grants/{key_id}",
    status_code=204,
    summary="Take a key's grant back",
    responses=OF_A_STUDY | WRITES | documented("key-not-found", "study-not-found"),
)
def withdraw(study: Name, key_id: KeyId, write: CanManage) -> Response:
    return respond(write.once(_nothing, studies.withdraw, study, key_id))


def _study(study: Study, status: int = 200) -> Answer:
    return answer(study_out(study), status, etag=f'"{study.version}"')


def created(made: tuple[Study, bool]) -> Answer:
    study, new = made
    return _study(study, 201 if new else 200)


def _nothing(_study: Study) -> Answer:
    return Answer(204)
