"""/v1/heads: the newest hash of each ledger, signed, to be kept elsewhere and compared later.

docs/decisions/0023-heads-outside.md says why.
"""

from fastapi import APIRouter

from app.api.bodies import StrictRoute
from app.api.dependencies import CanRead, ResourcesDep, RunLong
from app.api.routes import COMMON
from app.api.schemas.heads import HeadsCheckedOut, SignedHeadsIn, heads_checked_out, signed_heads, signed_heads_out
from app.services.use_cases import heads

router = APIRouter(prefix="/v1/heads", tags=["heads"], route_class=StrictRoute, responses=COMMON)


@router.get("", summary="The newest head of every study, signed by this server", response_model=SignedHeadsIn)
async def read_heads(tx: CanRead, resources: ResourcesDep, run_long: RunLong) -> SignedHeadsIn:
    """Keep them somewhere else: they prove later that nothing was cut off."""
    return signed_heads_out(await run_long(lambda: tx.read(heads.read_heads, resources.signer)))


@router.post(
    "/check",
    summary="Compare heads that were kept elsewhere: whether every ledger still has all that it had",
    response_model=HeadsCheckedOut,
)
async def check_heads(
    anchored: SignedHeadsIn, tx: CanRead, resources: ResourcesDep, run_long: RunLong
) -> HeadsCheckedOut:
    """Says of every study whether its ledger continues the one that the head belongs to."""
    given = signed_heads(anchored)
    return heads_checked_out(await run_long(lambda: tx.read(heads.check_heads, resources.signer, given)))
