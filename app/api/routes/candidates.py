"""/v1/studies/{study}/candidates"""

from functools import partial
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from app.api.dependencies import AtLength, CanManage, CanRead, Known
from app.api.downloads import download
from app.api.problems import documented
from app.api.routes import COMMON, OF_A_STUDY, WRITES, respond
from app.api.schemas.candidates import (
    CandidateChange,
    CandidateOut,
    CandidatePage,
    ReceiptOut,
    candidate_out,
    page_out,
    receipt_out,
)
from app.api.schemas.shape import Name, answer
from app.api.spooling import Spooled, candidate_files, spooled, uploading
from app.api.strict_json import StrictRoute
from app.domain.access import Actor, Scope
from app.domain.answers import Answer
from app.domain.candidates import Kind
from app.services import candidate_page, candidates
from app.services.candidate_set import Candidate
from app.services.candidates import Receipt
from app.services.intake.csv_rows import csv_text
from app.services.intake.declared import Declared
from app.services.resources import Resources
from app.services.transactions import Reading, Writing
from app.services.uploads import READERS, Upload

router = APIRouter(
    prefix="/v1/studies/{study}/candidates",
    tags=["candidates"],
    route_class=StrictRoute,
    responses=COMMON | OF_A_STUDY | documented("not-found", "study-not-found"),
)

Key = Annotated[str, Path(min_length=1, max_length=200, description="The candidate's own key.")]
Names = Annotated[list[str], Query()]

BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": (
            "A CSV file; a `.npy` matrix (alone, or in a form as `features` with the file `keys`, a key a line); "
            "Parquet or Arrow; or JSON: `candidates` lists them, `parameters` describes a grid or a space."
        ),
        "content": {
            **{kind: {"schema": {"type": "string", "format": "binary"}} for kind in READERS if "json" not in kind},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["features"],
                    "properties": {name: {"type": "string", "format": "binary"} for name in ("features", "keys")},
                }
            },
            "application/json": {
                "schema": {"type": "object"},
                "examples": {
                    "list": {"value": {"candidates": [{"key": "A1", "temperature": 90, "solvent": "DMF"}]}},
                    "grid": {
                        "value": {
                            "parameters": {
                                "temperature": {"low": 20, "high": 100, "step": 10},
                                "solvent": {"levels": ["DMF", "THF"]},
                            }
                        }
                    },
                },
            },
        },
    }
}
_UPLOADS = WRITES | documented("unsupported-media-type", "study-not-active", "candidates-in-use", "conflict")
_INVALID = documented("invalid-input", "invalid-candidates", "idempotency-key-reused")


async def uploaded(
    body: Annotated[Spooled, Depends(spooled(Scope.MANAGE))],
    key: Annotated[str | None, Query(description="Which column names the candidate; by default `key`.")] = None,
    attribute: Annotated[Names, Query(description="Columns carried along and shown, not modelled.")] = [],  # noqa: B006
    text: Annotated[Names, Query(description="Columns to read as text, whatever they look like.")] = [],  # noqa: B006
    column: Annotated[Names, Query(description="Names of a `.npy` file's columns, in order.")] = [],  # noqa: B006
) -> Upload:
    media_type, path, keys = candidate_files(body)
    kinds: dict[str, Kind] = dict.fromkeys(text, "text")
    declared = Declared(key=key, roles=dict.fromkeys(attribute, "attribute"), kinds=kinds)
    return Upload(media_type, path, declared, keys, tuple(column) or None)


Uploaded = Annotated[Upload, Depends(uploaded)]
CanUpload = Annotated[Writing, uploading(Scope.MANAGE)]
DryRun = Annotated[bool, Query(description="Check everything, store nothing.")]


@router.put(
    "",
    summary="Upload the list of candidates",
    response_model=ReceiptOut,
    responses=_UPLOADS | _INVALID | {201: {"model": ReceiptOut, "description": "Stored"}},
    openapi_extra=BODY,
)
async def upload(
    study: Name, body: Uploaded, known: Known, write: CanUpload, at_length: AtLength, dry_run: DryRun = False
) -> Response:
    work = partial(candidates.upload, known, write, study, body, dry_run=dry_run, render=_receipt)
    return respond(await at_length(work))


@router.post(
    "",
    summary="Add candidates to the list",
    response_model=ReceiptOut,
    responses=_UPLOADS | _INVALID | {201: {"model": ReceiptOut, "description": "Stored"}},
    openapi_extra=BODY,
)
async def append(
    study: Name, body: Uploaded, known: Known, write: CanUpload, at_length: AtLength, dry_run: DryRun = False
) -> Response:
    work = partial(candidates.append, known, write, study, body, dry_run=dry_run, render=_receipt)
    return respond(await at_length(work))


async def wanted(
    offset: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
    sort: Annotated[str, Query(description="A column; with `-` before it for falling order.")] = "",
    available: bool | None = None,
    search: Annotated[str, Query(max_length=200, description="A part of the key.")] = "",
    posterior: Annotated[bool, Query(description="With what the model believes; sortable too.")] = False,
    where: Annotated[Names, Query(description="`column=value`, `column>=number` …; all must hold.")] = [],  # noqa: B006
) -> candidate_page.Query:
    return candidate_page.Query(offset, limit, sort, available, search, posterior, tuple(where))


@router.get(
    "",
    summary="A page of candidates, sorted and filtered; or all of them as CSV",
    response_model=CandidatePage,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "Candidates"}},
)
async def list_candidates(
    study: Name,
    read: CanRead,
    known: Known,
    at_length: AtLength,
    query: Annotated[candidate_page.Query, Depends(wanted)],
    format: Literal["json", "csv"] = "json",  # noqa: A002
) -> Response:
    return await at_length(partial(_page if format == "json" else _table, study, read, known, query))


@router.get(
    "/{key:path}",
    summary="Read a candidate",
    response_model=CandidateOut,
    responses=documented("candidate-not-found", "study-not-found"),
)
def read_candidate(study: Name, key: Key, read: CanRead, known: Known) -> CandidateOut:
    return candidate_out(read(candidates.read_one, known, study, key))


@router.patch(
    "/{key:path}",
    summary="Switch a candidate off or on",
    response_model=CandidateOut,
    responses=WRITES | documented("candidate-not-found", "study-not-found", "study-not-active"),
)
def change_candidate(study: Name, key: Key, change: CandidateChange, known: Known, write: CanManage) -> Response:
    return respond(write.once(_one, candidates.switch, known, study, key, change.available, change.reason))


def _page(study: str, read: Reading, known: Resources, query: candidate_page.Query) -> Response:
    believed = candidate_page.belief(known, read, study, query)
    return respond(answer(page_out(read(candidate_page.read_page, known, study, query, believed))))


def _table(study: str, read: Reading, known: Resources, query: candidate_page.Query) -> Response:
    believed = candidate_page.belief(known, read, study, query)

    def write(connection: Any, actor: Actor, path: FilePath) -> None:
        rows = candidate_page.table_rows(connection, actor, known, study, query, believed)
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(csv_text([str(name) for name in next(rows)], rows))

    return download(lambda path: read(write, path), "text/csv; charset=utf-8")


def _receipt(receipt: Receipt) -> Answer:
    return answer(receipt_out(receipt), 201 if receipt.stored else 200)


def _one(candidate: Candidate) -> Answer:
    return answer(candidate_out(candidate))
