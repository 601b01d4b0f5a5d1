"""/v1/studies/{study}/borrowed"""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanManage, CanRead, ResourcesDep, RunLong
from app.api.problems import documented
from app.api.responses import answer, respond
from app.api.routes import COMMON, OF_A_STUDY, WRITES
from app.api.schemas.borrowing import BorrowedOut, BorrowIn, borrowed_out
from app.api.schemas.shape import Name
from app.services.transactions import Answer
from app.services.use_cases.borrowing import Borrowed, borrow
from app.services.workflows.read_borrowed import read_borrowed

router = APIRouter(
    prefix="/v1/studies/{study}/borrowed", tags=["studies"], route_class=StrictRoute, responses=COMMON | OF_A_STUDY
)


@router.put(
    "",
    summary="Use results of earlier studies as hints",
    response_model=BorrowedOut,
    responses=WRITES | documented("no-candidates", "study-not-active"),
)
def borrow_results(study: Name, wanted: BorrowIn, tx: CanManage, resources: ResourcesDep) -> Response:
    """The results are copied into this study with the hash of where they come from. How much they count is fitted."""
    return respond(tx.write_once(borrow, resources, study, wanted.sources, wanted.reason, answer=_borrowed))


@router.get("", summary="Which results are borrowed, and how much they count")
async def list_borrowed(study: Name, tx: CanRead, resources: ResourcesDep, run_long: RunLong) -> BorrowedOut:
    """Each earlier study with the columns that both have and its share in what is expected."""
    return borrowed_out(await run_long(lambda: read_borrowed(resources, tx, study)))


def _borrowed(borrowed: tuple[Borrowed, ...]) -> Answer:
    return answer(borrowed_out(borrowed))
