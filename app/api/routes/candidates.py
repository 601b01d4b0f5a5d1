"""/v1/studies/{study}/candidates"""

from dataclasses import replace
from functools import partial
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from app.api.bodies import Spooled, StrictRoute, candidate_files, spooled, uploading
from app.api.dependencies import CanManage, CanRead, ResourcesDep, RunLong
from app.api.problems import documented
from app.api.responses import answer, download, respond
from app.api.routes import COMMON, NOT_MODIFIED, OF_A_STUDY, WRITES
from app.api.schemas.candidates import (
    CandidateChange,
    CandidateOut,
    CandidatePageOut,
    SwitchedOut,
    SwitchIn,
    UploadReceiptOut,
    candidate_out,
    page_out,
    receipt_out,
    switched_out,
)
from app.api.schemas.shape import Name
from app.api.shared_answers import Reader
from app.domain.access import Actor, Scope
from app.domain.candidates import Candidate, ColumnKind, ColumnRole, Expense
from app.domain.errors import Finding, Invalid
from app.domain.limits import MOST_CONDITIONS, MOST_NAMED
from app.services.intake.columns import Declared
from app.services.intake.csv_writing import csv_text
from app.services.intake.uploads import READERS, Upload
from app.services.intake.xlsx import XLSX, write_xlsx
from app.services.resources import Resources
from app.services.transactions import Answer, ReadTransactions, WriteTransactions
from app.services.use_cases import candidates
from app.services.use_cases.audit import record_table_export
from app.services.use_cases.candidates import CandidateQuery, Switched
from app.services.workflows import upload as uploads
from app.services.workflows.summarise import predict
from app.services.workflows.upload import UploadReceipt

router = APIRouter(
    prefix="/v1/studies/{study}/candidates",
    tags=["candidates"],
    route_class=StrictRoute,
    responses=COMMON | OF_A_STUDY | documented("not-found", "study-not-found"),
)

CandidateKey = Annotated[str, Path(min_length=1, max_length=200, description="The candidate's own key.")]
Names = Annotated[list[str], Query()]

BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": (
            "A CSV or .xlsx file, also in a form as `candidates`; "
            "a `.npy` matrix (alone, or in a form as `features` with the file `keys`, one key per line); "
            "Parquet or Arrow; or JSON: `candidates` lists them, "
            "with `descriptors` of the levels of a column or without; `parameters` describes a grid or a space."
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
                    "descriptors": {
                        "value": {
                            "candidates": [{"key": "A1", "ligand": "XPhos"}],
                            "descriptors": {"ligand": [{"ligand": "XPhos", "cone angle": 256}]},
                        }
                    },
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
_UPLOADS = WRITES | documented(
    "unsupported-media-type", "study-not-active", "candidates-in-use", "candidates-exist", "conflict"
)
_INVALID = documented("invalid-input", "invalid-candidates", "idempotency-key-reused")


def expense_columns(
    cost: Annotated[str | None, Query(description="Which column says what one measurement costs.")] = None,
    duration: Annotated[str | None, Query(description="Which column says how long one measurement takes.")] = None,
) -> dict[str, Expense]:
    if cost is not None and cost == duration:
        message = "One column cannot be both cost and duration. Name two columns, or leave one of them out."
        raise Invalid([Finding("duration", message)])
    expenses: dict[Expense, str | None] = {"cost": cost, "duration": duration}
    return {column: expense for expense, column in expenses.items() if column is not None}


async def uploaded(
    body: Annotated[Spooled, Depends(spooled(Scope.MANAGE))],
    expenses: Annotated[dict[str, Expense], Depends(expense_columns)],
    key: Annotated[str | None, Query(description="Which column names the candidate; by default `key`.")] = None,
    attribute: Annotated[Names, Query(description="Columns carried along and shown, not modelled.")] = [],  # noqa: B006
    text: Annotated[Names, Query(description="Columns to read as text, whatever they look like.")] = [],  # noqa: B006
    feature: Annotated[Names, Query(description="Columns to model although they are a cost or duration.")] = [],  # noqa: B006
    smiles: Annotated[Names, Query(description="Columns that hold molecules as SMILES.")] = [],  # noqa: B006
    column: Annotated[Names, Query(description="Names of a `.npy` file's columns, in order.")] = [],  # noqa: B006
) -> Upload:
    media_type, path, keys = candidate_files(body)
    kinds: dict[str, ColumnKind] = dict.fromkeys([*text, *smiles], "text")
    roles: dict[str, ColumnRole] = {**dict.fromkeys(attribute, "attribute"), **dict.fromkeys(feature, "feature")}
    declared = Declared(key, roles, kinds, expenses)
    return Upload(media_type, path, declared, keys, tuple(column) or None, tuple(dict.fromkeys(smiles)))


Uploaded = Annotated[Upload, Depends(uploaded)]
CanUpload = Annotated[WriteTransactions, uploading(Scope.MANAGE)]
DryRun = Annotated[bool, Query(description="Check everything, store nothing.")]


@router.put(
    "",
    summary="Upload the list of candidates",
    response_model=UploadReceiptOut,
    responses=_UPLOADS | _INVALID | {201: {"model": UploadReceiptOut, "description": "Stored"}},
    openapi_extra=BODY,
)
async def upload(
    study: Name,
    body: Uploaded,
    resources: ResourcesDep,
    tx: CanUpload,
    run_long: RunLong,
    replace: Annotated[bool, Query(description="Replace the list that the study has.")] = False,
    dry_run: DryRun = False,
) -> Response:
    """Repeating it changes nothing. Once there are results or batches, the list can only grow."""
    work = partial(uploads.upload, resources, tx, study, body, replacing=replace, dry_run=dry_run, answer=_receipt)
    with resources.memory.reserve(body.memory):
        return respond(await run_long(work))


@router.post(
    "",
    summary="Add candidates to the list",
    response_model=UploadReceiptOut,
    responses=_UPLOADS | _INVALID | {201: {"model": UploadReceiptOut, "description": "Stored"}},
    openapi_extra=BODY,
)
async def append(
    study: Name, body: Uploaded, resources: ResourcesDep, tx: CanUpload, run_long: RunLong, dry_run: DryRun = False
) -> Response:
    """The columns must be those that the study has. Levels of texts may be new."""
    work = partial(uploads.append, resources, tx, study, body, dry_run=dry_run, answer=_receipt)
    with resources.memory.reserve(body.memory):
        return respond(await run_long(work))


Named = tuple[tuple[str, ...], tuple[int, ...]]


async def named_candidates(
    key: Annotated[Names, Query(max_length=MOST_NAMED, description="Only the candidates with these keys.")] = [],  # noqa: B006
    number: Annotated[
        list[int], Query(max_length=MOST_NAMED, description="Only those at these places of the list, from 0.")
    ] = [],  # noqa: B006
) -> Named:
    return tuple(key), tuple(number)


async def candidate_query(
    offset: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
    sort: Annotated[str, Query(description="A column; with `-` before it for falling order.")] = "",
    available: bool | None = None,
    search: Annotated[str, Query(max_length=200, description="A part of the key.")] = "",
    posterior: Annotated[
        bool, Query(description="With what the model says of each candidate; for `sort` and `where`, too.")
    ] = False,
    where: Annotated[
        Names, Query(max_length=MOST_CONDITIONS, description="`column=value`, `column>=number` …; all must hold.")
    ] = [],  # noqa: B006
    named: Annotated[Named, Depends(named_candidates)] = ((), ()),
) -> CandidateQuery:
    return CandidateQuery(offset, limit, sort, available, search, posterior, tuple(where), *named)


@router.get(
    "",
    summary="A page of candidates, sorted and filtered; or all of them as CSV or .xlsx",
    response_model=CandidatePageOut,
    responses=NOT_MODIFIED
    | {200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "Candidates"}},
)
async def list_candidates(
    study: Name,
    reader: Reader,
    resources: ResourcesDep,
    run_long: RunLong,
    query: Annotated[CandidateQuery, Depends(candidate_query)],
    format: Literal["json", "csv", "xlsx"] = "json",  # noqa: A002
    omit: Annotated[Names, Query(description="Columns that a CSV or .xlsx file leaves out.")] = [],  # noqa: B006
) -> Response:
    """With `posterior`, each has what the model expects of it. Conditions in `where` must all be met."""
    if format == "json":
        return await reader.answer_bytes(study, partial(_page, study, reader.tx, resources, query), "application/json")
    return await run_long(partial(_table, study, reader.tx, resources, replace(query, omitted=tuple(omit)), format))


@router.get(
    "/{key:path}",
    summary="Read a candidate",
    response_model=CandidateOut,
    responses=documented("candidate-not-found", "study-not-found"),
)
def read_candidate(study: Name, key: CandidateKey, tx: CanRead, resources: ResourcesDep) -> CandidateOut:
    """Its features, its attributes, and whether it is available."""
    return candidate_out(tx.read(candidates.read_one, resources, study, key))


@router.patch(
    "",
    summary="Switch many candidates off or on, by their keys or by conditions",
    response_model=SwitchedOut,
    responses=WRITES | documented("study-not-found", "study-not-active"),
)
def switch_candidates(study: Name, change: SwitchIn, resources: ResourcesDep, tx: CanManage) -> Response:
    """All of them or none, as one event. What is switched off is not suggested."""
    keys, where = (None if named is None else tuple(named) for named in (change.keys, change.where))
    arguments = (resources, study, candidates.Choice(keys, where), change.available, change.reason)
    return respond(tx.write_once(candidates.switch_many, *arguments, answer=_switched))


@router.patch(
    "/{key:path}",
    summary="Switch a candidate off or on",
    response_model=CandidateOut,
    responses=WRITES | documented("candidate-not-found", "study-not-found", "study-not-active"),
)
def change_candidate(
    study: Name, key: CandidateKey, change: CandidateChange, resources: ResourcesDep, tx: CanManage
) -> Response:
    """Switching off needs a reason, which is kept."""
    return respond(
        tx.write_once(candidates.switch, resources, study, key, change.available, change.reason, answer=_candidate)
    )


def _page(study: str, tx: ReadTransactions, resources: Resources, query: CandidateQuery) -> bytes:
    predictions = predict(resources, tx, study) if query.posterior else None
    with resources.memory.reserve(tx.read(candidates.page_bytes, resources, study, query)):
        page = page_out(tx.read(candidates.read_page, resources, study, query, predictions))
        return page.model_dump_json().encode()


def _table(
    study: str, tx: ReadTransactions, resources: Resources, query: CandidateQuery, format_: Literal["csv", "xlsx"]
) -> Response:
    tx.record(record_table_export, study, "candidates", format_)
    predictions = predict(resources, tx, study) if query.posterior else None

    def write(connection: Any, actor: Actor, path: FilePath) -> None:
        rows = candidates.table_rows(connection, actor, resources, study, query, predictions)
        header = [str(name) for name in next(rows)]
        if format_ == "xlsx":
            write_xlsx(path, header, rows)
            return
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(csv_text(header, rows))

    media_type = XLSX if format_ == "xlsx" else "text/csv; charset=utf-8"
    return download(lambda path: tx.read(write, path), media_type, f"{study}-candidates.{format_}")


def _receipt(receipt: UploadReceipt) -> Answer:
    return answer(receipt_out(receipt), 201 if receipt.stored else 200)


def _candidate(candidate: Candidate) -> Answer:
    return answer(candidate_out(candidate))


def _switched(switched: Switched) -> Answer:
    return answer(switched_out(switched))
