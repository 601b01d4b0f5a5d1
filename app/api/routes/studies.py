"""/v1/studies"""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanManage, CanRead, ResourcesDep, SeenVersion
from app.api.problems import documented
from app.api.responses import answer, respond
from app.api.routes import COMMON, OF_A_STUDY, WRITES
from app.api.schemas.shape import Name, Reason
from app.api.schemas.studies import StudyChange, StudyOut, StudyPage, StudySettings, study_out
from app.domain.studies import Study, StudyState
from app.services.transactions import Answer
from app.services.use_cases import deletion, studies

router = APIRouter(prefix="/v1/studies", tags=["studies"], route_class=StrictRoute, responses=COMMON)

KeyId = Annotated[str, Path(pattern=r"^[0-9a-f]{12}$", description="The part of a key between its underscores.")]


@router.get("", summary="List the studies this key may see")
def list_studies(
    tx: CanRead,
    state: StudyState | None = None,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> StudyPage:
    """By state, in pages; `after` continues."""
    page = tx.read(studies.list_studies, state, after, limit)
    return StudyPage(
        studies=tuple(study_out(study) for study in page), next=page[-1].id if len(page) == limit else None
    )


@router.put(
    "/{study}",
    summary="Create a study; the same request again returns it",
    response_model=StudyOut,
    responses=WRITES
    | documented("study-exists", "study-deleted", "study-not-found")
    | {201: {"model": StudyOut, "description": "Created"}},
)
def create_study(study: Name, settings: StudySettings, tx: CanManage) -> Response:
    """Every setting has a default. Another configuration under the same name is refused."""
    return respond(tx.write_once(studies.create, study, settings.configuration(), answer=created))


@router.get("/{study}", summary="Read a study", response_model=StudyOut, responses=OF_A_STUDY)
def read_study(study: Name, tx: CanRead) -> Response:
    """Its settings, state, columns and version, which a change names in `If-Match`."""
    return respond(study_answer(tx.read(studies.find, study)))


@router.patch(
    "/{study}",
    summary="Pause, resume, archive, or change settings",
    response_model=StudyOut,
    responses=OF_A_STUDY
    | WRITES
    | documented(
        "precondition-required", "precondition-failed", "forbidden-transition", "objective-measured", "conflict"
    ),
)
def change_study(
    study: Name, change: StudyChange, tx: CanManage, resources: ResourcesDep, version: SeenVersion
) -> Response:
    """Batches that were issued stay as they are. What is measured can change until the first result."""
    state, settings = change.new_state(), change.apply_to
    arguments = (resources, study, version, state, settings, change.reason)
    return respond(tx.write_once(studies.change, *arguments, answer=study_answer))


@router.delete(
    "/{study}",
    status_code=204,
    summary="Delete a study; it can be restored for a while",
    responses=OF_A_STUDY | WRITES | documented("forbidden-transition"),
)
def delete_study(
    study: Name,
    tx: CanManage,
    confirm: Annotated[str | None, Query(max_length=100, description="The name of the study, once more.")] = None,
    reason: Annotated[Reason | None, Query()] = None,
) -> Response:
    """It is no longer shown, and its name can be used again. After NEXTBATCH_DELETE_DAYS it is erased for good."""
    return respond(tx.write_once(deletion.delete, study, confirm, reason, answer=_nothing))


@router.put(
    "/{study}/grants/{key_id}",
    status_code=204,
    summary="Let a key see the study",
    responses=OF_A_STUDY | WRITES | documented("key-not-found", "study-not-found"),
)
def grant(study: Name, key_id: KeyId, tx: CanManage) -> Response:
    """Its role says what it may do there."""
    return respond(tx.write_once(studies.grant, study, key_id, answer=_nothing))


@router.delete(
    "/{study}/grants/{key_id}",
    status_code=204,
    summary="Withdraw a key's grant",
    responses=OF_A_STUDY | WRITES | documented("key-not-found", "study-not-found"),
)
def withdraw(study: Name, key_id: KeyId, tx: CanManage) -> Response:
    """Effective with the next request."""
    return respond(tx.write_once(studies.withdraw, study, key_id, answer=_nothing))


def study_answer(study: Study, status: int = 200) -> Answer:
    return answer(study_out(study), status, etag=f'"{study.version}"')


def created(creation: tuple[Study, bool]) -> Answer:
    study, new = creation
    return study_answer(study, 201 if new else 200)


def _nothing(_study: Study) -> Answer:
    return Answer(204)
