"""Problem documents (RFC 9457): one table of codes and one shape for every error.

A problem says where something is wrong, which rule it breaks and what to write instead. It never repeats a value that
was sent.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from errno import EDQUOT, ENOSPC
from http import HTTPStatus
from typing import Any, get_args

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic.fields import FieldInfo
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from app.api.limits import run_short
from app.api.schemas.shape import Request as RequestShape
from app.api.union_errors import placed
from app.domain import errors
from app.domain.access import Actor, LastAdmin
from app.domain.errors import AlreadyObserved, Finding, Invalid, Refusal, Unavailable
from app.domain.reservations import NotReservable
from app.services.transactions import ReadTransactions

MEDIA_TYPE = "application/problem+json"
MOST_ERRORS = 100

# code → status. A test compares it with the exceptions of the domain and with the documentation.
STATUSES: dict[str, int] = {
    errors.Malformed.code: 400,
    errors.JsonLimits.code: 400,
    errors.DuplicateMember.code: 400,
    errors.TwoLengths.code: 400,
    errors.Unauthenticated.code: 401,
    errors.Denied.code: 403,
    errors.Missing.code: 404,
    errors.StudyNotFound.code: 404,
    errors.CandidateNotFound.code: 404,
    errors.BatchNotFound.code: 404,
    errors.SuggestionNotFound.code: 404,
    errors.ObservationNotFound.code: 404,
    errors.KeyNotFound.code: 404,
    "method-not-allowed": 405,
    errors.BodyTooSlow.code: 408,
    errors.Conflict.code: 409,
    errors.StudyExists.code: 409,
    errors.StudyNotActive.code: 409,
    errors.ForbiddenTransition.code: 409,
    errors.CandidatesExist.code: 409,
    errors.CandidatesInUse.code: 409,
    errors.StudyFinished.code: 409,
    errors.NoCandidates.code: 409,
    errors.CandidatesExhausted.code: 409,
    errors.TermsUnmet.code: 409,
    errors.PreviewOutdated.code: 409,
    errors.SuggestionNotPending.code: 409,
    NotReservable.code: 409,
    errors.AlreadyObserved.code: 409,
    errors.ObjectiveMeasured.code: 409,
    errors.UnreadableEvent.code: 409,
    errors.DamagedStudy.code: 409,
    errors.LedgerBehind.code: 409,
    LastAdmin.code: 409,
    errors.StudyGone.code: 410,
    errors.PreconditionFailed.code: 412,
    errors.BodyTooLarge.code: 413,
    errors.UnsupportedMediaType.code: 415,
    errors.WrongOrigin.code: 421,
    errors.Invalid.code: 422,
    errors.InvalidCandidates.code: 422,
    errors.IdempotencyKeyReused.code: 422,
    errors.UnverifiedArchive.code: 422,
    errors.PreconditionRequired.code: 428,
    errors.TooManyRequests.code: 429,
    errors.Refusal.code: 400,
    "internal-error": 500,
    errors.Unavailable.code: 503,
    errors.DatabaseBusy.code: 503,
    errors.DatabaseDamaged.code: 503,
    errors.DatabaseReplaced.code: 503,
    errors.SchemaChanged.code: 503,
    errors.OutcomeUnknown.code: 503,
    errors.Overloaded.code: 503,
    errors.ComputationTooLong.code: 503,
    errors.StorageFull.code: 507,
}


def problem(code: str, detail: str, request_id: str | None, **members: Any) -> Response:
    """The one shape of an error."""
    status = STATUSES[code]
    document = {
        "type": f"/problems/{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        "request_id": request_id,
        **members,
    }
    return Response(json.dumps(document), status, media_type=MEDIA_TYPE)


def refusal(error: Refusal, request_id: str | None) -> Response:
    members = dict(error.facts)
    if isinstance(error, Invalid | AlreadyObserved):
        members["errors"] = [_plain(finding) for finding in error.findings[:MOST_ERRORS]]
    response = problem(error.code, str(error), request_id, **members)
    if isinstance(error, Unavailable):
        response.headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, errors.BodyTooSlow):
        response.headers["Connection"] = "close"  # the rest of the body is not needed
    if isinstance(error, errors.Unauthenticated):
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def install(app: FastAPI) -> None:
    """Every error of this application leaves as a problem document."""
    app.add_exception_handler(Refusal, on_refusal)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(OSError, on_system_error)


def internal_error(request_id: str | None) -> Response:
    """A bug: the id of the request, and nothing else."""
    return problem("internal-error", "The server has a bug. Its log tells more under this request id.", request_id)


def invalid_payload(entries: Sequence[Any], document: object = None) -> Invalid:
    """What pydantic found in the document, as a refusal."""
    return Invalid([_finding(entry) for entry in placed(entries[:MOST_ERRORS], document)])


def unknown_parameter(name: str, position: int, known: Collection[str]) -> Finding:
    """A query parameter that the operation does not have, by its position, and the one that was probably meant."""
    close = get_close_matches(name.lower(), sorted(known), n=1)
    if close:
        hint = f"Did you mean `{close[0]}`?"
    else:
        listed = ", ".join(f"`{parameter}`" for parameter in sorted(known))
        hint = f"Use one of: {listed}." if known else "This operation has none."
    return Finding("unknown-parameter", f"Query parameter {position} is none of this operation's. {hint}")


def documented(*codes: str) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: the problems it may answer with, by status."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(STATUSES[code], []).append(code)
    return {
        status: {
            "description": f"{HTTPStatus(status).phrase}: {', '.join(f'`{code}`' for code in listed)}.",
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, listed in sorted(by_status.items())
    }


def _request_id(request: Request) -> str | None:
    return request.scope.get("request_id")


async def on_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)  # noqa: S101  (narrows for mypy)
    if isinstance(error, Unavailable):
        structlog.get_logger().warning("unavailable", code=error.code, cause=repr(error.__cause__))
    return await _told(request, error)


async def _told(request: Request, error: Refusal) -> Response:
    """The refusal; but a key that was admitted from memory, and has been revoked since, learns only that."""
    actor: Actor | None = request.scope.get("actor")
    if actor is not None and actor.remembered and not isinstance(error, Unavailable | errors.Unauthenticated):
        try:
            await run_short(ReadTransactions(request.app.state.resources.database, actor).must_be_admitted)
        except Refusal as dead:
            error = dead
    return refusal(error, _request_id(request))


async def _on_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    in_path = any(entry["loc"][0] == "path" for entry in error.errors())
    if in_path and request.method != "PUT":  # nothing can have such a name
        return await _told(request, errors.Missing())
    return await _told(request, invalid_payload(error.errors(), error.body))


async def on_system_error(request: Request, error: Exception) -> Response:
    """The disk with the temporary files may be full, too; anything else is a bug."""
    if isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT):
        return await on_refusal(request, errors.StorageFull())
    raise error


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    if isinstance(error.__cause__, Refusal):  # FastAPI wraps what reading the body raised
        return await _told(request, error.__cause__)
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        response = problem("method-not-allowed", "This address does not accept that method.", _request_id(request))
        response.headers.update(error.headers or {})
        response.headers["Allow"] = ", ".join(_allowed_methods(request))
        return response
    if error.status_code == HTTPStatus.NOT_FOUND:
        return refusal(errors.Missing(), _request_id(request))
    return refusal(errors.Malformed("The request cannot be read."), _request_id(request))


def _allowed_methods(request: Request) -> list[str]:
    """The methods of every route at this address; Starlette names those of the first one only."""
    here = (route for route in request.app.routes if route.matches(request.scope)[0] != Match.NONE)
    return sorted(set().union(*(getattr(route, "methods", None) or () for route in here)))


def _plain(finding: Finding) -> Mapping[str, Any]:
    return {name: value for name, value in asdict(finding).items() if value is not None}


# What pydantic finds, in our own words; members of its context are filled in. Its own messages may repeat the input.
_MESSAGES = {
    "missing": "This field is required.",
    "json_invalid": "This is not JSON.",
    "union_tag_invalid": "This is not one of the known kinds.",
    "union_tag_not_found": "The kind is missing.",
    "string_type": "Write text.",
    "string_pattern_mismatch": "This text has a form or characters that are not allowed here.",
    "string_too_long": "Write at most {max_length} characters.",
    "string_too_short": "Write at least {min_length} character(s).",
    "float_type": "Write a number without quotation marks, such as 83.1.",
    "float_parsing": "Write a number.",
    "finite_number": "Write a finite number such as 83.1.",
    "int_type": "Write a whole number.",
    "int_parsing": "Write a whole number.",
    "int_from_float": "Write a whole number.",
    "int_parsing_size": "This number is too large.",
    "bool_type": "Write true or false.",
    "bool_parsing": "Write true or false.",
    "list_type": "Write a list.",
    "dict_type": "Write a JSON object.",
    "model_type": "Write a JSON object.",
    "model_attributes_type": "Write a JSON object.",
    "greater_than": "Write a number above {gt}.",
    "greater_than_equal": "Write a number of at least {ge}.",
    "less_than": "Write a number below {lt}.",
    "less_than_equal": "Write a number of at most {le}.",
    "too_long": "List at most {max_length} items.",
    "too_short": "List at least {min_length} item(s).",
    "literal_error": "Use one of: {expected}.",
    "enum": "Use one of: {expected}.",
    "timezone_aware": "Give the time zone, as in 2026-05-04T13:30+02:00.",
    "datetime_from_date_parsing": "Write date and time with a time zone, as in 2026-05-04T13:30+02:00.",
}

_PLACES = {"body", "path", "query", "header", "cookie"}


def _finding(entry: Mapping[str, Any]) -> Finding:
    kind: str = entry["type"]
    place, *path = entry["loc"] if entry["loc"] and entry["loc"][0] in _PLACES else ("body", *entry["loc"])
    if kind == "extra_forbidden":
        message = _unknown_field(str(path[-1]))
    elif kind == "string_pattern_mismatch" and path[-1:] == ["suggestion"]:
        message = "Write the id of a suggestion, such as B3-S1; or name the candidate by its key, in `candidate`."
    elif kind == "string_pattern_mismatch" and path[-1:] == ["plate"]:
        message = "Write the rows and columns of the plate, as in 8x12."
    elif kind in _MESSAGES:
        message = _MESSAGES[kind].format(**entry.get("ctx", {}))
    else:
        message = entry["msg"].removeprefix("Value error, ")
    if place == "body":
        pointer = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)
        return Finding(kind, message, pointer=pointer)
    return Finding(kind, f"{place} {'.'.join(map(str, path))}: {message}")


def _unknown_field(name: str) -> str:
    """Suggest the field that was probably meant, or the member in which this one belongs."""
    shapes = _shapes(RequestShape)
    known = {field for shape in shapes for field in shape.model_fields}
    if name in known:
        homes = {home for shape in shapes for home, field in shape.model_fields.items() if name in _inside(field)}
        return (
            f"There is no such field here. Write it in `{homes.pop()}`."
            if len(homes) == 1
            else "There is no such field here."
        )
    close = get_close_matches(name, sorted(known), n=1)
    return f"There is no such field. Did you mean `{close[0]}`?" if close else "There is no such field."


def _shapes(shape: type[RequestShape]) -> list[type[RequestShape]]:
    return [shape, *(below for special in shape.__subclasses__() for below in _shapes(special))]


def _inside(field: FieldInfo) -> set[str]:
    """The fields of a field that holds a JSON object, or may hold one."""
    kinds = (field.annotation, *get_args(field.annotation))
    return {
        name
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, RequestShape)
        for name in kind.model_fields
    }
