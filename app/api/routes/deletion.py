"""Deleted studies: list them, restore one, erase one for good."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanChangeKeys, CanManage, CanRead, ResourcesDep, RunLong
from app.api.problems import documented
from app.api.responses import answer, respond
from app.api.routes import COMMON, OF_A_STUDY, WRITES
from app.api.routes.studies import study_answer
from app.api.schemas.shape import Reason, Shape
from app.api.schemas.shape import Request as Body
from app.api.schemas.studies import StudyOut
from app.services.transactions import Answer
from app.services.use_cases import deletion
from app.services.use_cases.deletion import Purged
from app.services.workflows import purge

router = APIRouter(prefix="/v1", tags=["studies"], route_class=StrictRoute, responses=COMMON)

DeletedName = Annotated[
    str,
    Path(
        pattern=r"^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,99}|~[0-9]{1,10})$",
        description="The name of the study, or its `address` in the list of deleted studies.",
    ),
]


class DeletedOut(Shape):
    name: str
    address: str = Field(description="How to restore or purge it: its name, or `~` and a number if that is taken.")
    deleted_at: str
    deleted_by: str = Field(description="The id of the key.")
    reason: str | None
    erased_at: str = Field(description="When it is erased for good.")


class DeletedList(Shape):
    studies: tuple[DeletedOut, ...]


class RestorationIn(Body):
    reason: Reason | None = Field(default=None, examples=["deleted by mistake"])


class PurgeIn(Body):
    confirm: str | None = Field(
        default=None, max_length=100, description="The name of the study, once more.", examples=["coupling"]
    )
    reason: Reason | None = Field(default=None, examples=["request under data protection law"])


class PurgedOut(Shape):
    study: str
    copies: tuple[str, ...] = Field(
        description="Studies that hold copies of its results: forks of it, and those that borrowed from it."
    )


@router.get("/deleted-studies", summary="The deleted studies that can be restored")
def list_deleted_studies(tx: CanRead, resources: ResourcesDep) -> DeletedList:
    """Those that this key may see."""
    found = tx.read(deletion.list_deleted, resources.settings.delete_days)
    return DeletedList(studies=tuple(map(DeletedOut.model_validate, found)))


@router.post(
    "/studies/{study}/restoration",
    summary="Restore a deleted study",
    response_model=StudyOut,
    responses=OF_A_STUDY | WRITES | documented("study-exists"),
)
def restore_study(study: DeletedName, wanted: RestorationIn, tx: CanManage) -> Response:
    """As it was when it was deleted. Refused once it is erased, or if another study has its name by now."""
    return respond(tx.write_once(deletion.restore, study, wanted.reason, answer=study_answer))


@router.post(
    "/studies/{study}/purge",
    summary="Erase a study for good, now",
    response_model=PurgedOut,
    responses=OF_A_STUDY | WRITES,
)
async def purge_study(study: DeletedName, wanted: PurgeIn, tx: CanChangeKeys, run_long: RunLong) -> Response:
    """For admins. Nothing can bring it back. Its chain of hashes stays, without what was hashed."""
    return respond(await run_long(partial(purge.purge, tx, study, wanted.confirm, wanted.reason, _purged)))


def _purged(purged: Purged) -> Answer:
    return answer(PurgedOut(study=purged.study.ledger_name, copies=purged.copies))
