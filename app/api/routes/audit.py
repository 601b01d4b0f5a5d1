"""/v1/audit: who did what with keys, access and whole studies; for admins."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from app.api.bodies import StrictRoute
from app.api.dependencies import CanListKeys, RunLong
from app.api.routes import COMMON
from app.api.schemas.shape import Shape
from app.services.use_cases import audit

router = APIRouter(prefix="/v1/audit", tags=["audit"], route_class=StrictRoute, responses=COMMON)


class AuditEntryOut(Shape):
    seq: int
    action: str = Field(examples=["key-created"])
    actor: str = Field(description="The id of the key; `server` for the command line of the server's own machine.")
    details: str = Field(description="Canonical JSON: the text that was hashed.")
    address: str | None = Field(description="Where the request came from.")
    recorded_at: str
    request_id: str
    previous: str
    hash: str


class AuditPage(Shape):
    entries: tuple[AuditEntryOut, ...]
    next: int | None


class AuditVerifiedOut(Shape):
    sound: bool
    entries: int
    broken_at: int | None = Field(description="The first entry that is missing, altered or out of place.")
    head: str


@router.get("", summary="The audit log, oldest first")
def list_audit(
    tx: CanListKeys,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> AuditPage:
    """Who managed keys and access, signed in, exported and deleted: one entry each, chained by hashes."""
    entries = tx.read(audit.list_entries, after, limit)
    return AuditPage(
        entries=tuple(AuditEntryOut.model_validate(entry) for entry in entries),
        next=entries[-1].seq if len(entries) == limit else None,
    )


@router.post("/verify", summary="Check the hash chain of the audit log")
async def verify_audit(tx: CanListKeys, run_long: RunLong) -> AuditVerifiedOut:
    """Names the first entry that was altered or is missing."""
    return AuditVerifiedOut.model_validate(await run_long(lambda: tx.read(audit.verify_audit)))
