"""Reports and their receipts as JSON, be it of one result or of a hundred thousand."""

from collections.abc import Sequence
from dataclasses import asdict
from json.encoder import encode_basestring
from math import isfinite
from typing import Any

import orjson
from pydantic import ValidationError

from app.api.problems import MOST_ERRORS, invalid_payload
from app.api.schemas.observations import ReportIn, UnreadReportsIn, only_value, text_of
from app.domain.limits import is_line
from app.domain.observations import Outcome, Report, ReportColumns
from app.services.intake import json_text
from app.services.use_cases.plain_matching import PlainMatches
from app.services.use_cases.repeats import Match
from app.services.use_cases.report import ReportReceipt

MOST_IN_GROUP = 100  # reports of one request that are stored in a group with those of others
_EXACT = 2**53  # up to here, every whole number is a float


def json_reports(body: bytes) -> Sequence[Report]:
    """The reports of a JSON document: one, or a list of them."""
    value = json_text.loads(body)
    try:
        if isinstance(value, dict) and "observations" in value:
            return _each_report(UnreadReportsIn.model_validate(value).observations)
        return [ReportIn.model_validate(value).report()]
    except ValidationError as error:
        raise invalid_payload(error.errors(), value) from None


def _each_report(unread: list[Any]) -> Sequence[Report]:
    """The reports of a list, or its first mistakes."""
    plain = report_columns(unread) if len(unread) > MOST_IN_GROUP else None
    if plain is not None:
        return plain
    reports, mistakes = [], []
    for number, item in enumerate(unread):
        try:
            reports.append(ReportIn.model_validate(item).report(f"/observations/{number}"))
        except ValidationError as error:
            mistakes += [{**entry, "loc": ("observations", number, *entry["loc"])} for entry in error.errors()]
            if len(mistakes) >= MOST_ERRORS:
                break
    if mistakes:
        raise invalid_payload(mistakes, {"observations": unread})
    return reports


def report_columns(unread: Sequence[Any]) -> ReportColumns | None:
    """A list of reports that have a key and a value each, and nothing else; None for any other list.

    It does without a `ReportIn` for each of a hundred thousand, and takes nothing that they would not take as well.
    """
    keys, values = [], []
    for item in unread:
        if type(item) is not dict or len(item) != 2 or "value" not in item:
            return None
        value, key = item["value"], item.get("key", item.get("candidate"))
        if type(value) is int and -_EXACT <= value <= _EXACT:
            value = float(value)
        if type(value) is not float or type(key) is not str:
            return None
        keys.append(key)
        values.append(value)
    is_right = all(map(isfinite, values)) and all(is_line(key, 1) for key in set(keys))
    return ReportColumns(keys, values) if is_right else None


def report_receipt_json(receipt: ReportReceipt, *, stored: bool) -> bytes:
    """A `ReportReceiptOut` as JSON, without the shapes themselves: a receipt may tell of a hundred thousand results."""
    if isinstance(receipt.matches, PlainMatches):
        return _plain_receipt_json(receipt, receipt.matches, stored=stored)
    document = {
        "stored": stored,
        "recorded": sum(match.status == "recorded" for match in receipt.matches),
        "upload": receipt.upload if stored else None,
        "results": [_match_json(match) for match in receipt.matches],
        "warnings": [asdict(finding) for finding in receipt.warnings],
    }
    return orjson.dumps(document)


def _plain_receipt_json(receipt: ReportReceipt, matches: PlainMatches, *, stored: bool) -> bytes:
    """The same, written as text: most of it is the same for each result."""
    name = encode_basestring(matches.observations.quantity)
    numbered = enumerate(zip(matches.reports.keys, matches.reports.values, strict=True), matches.observations.first)
    results = ",".join(
        f'{{"row":null,"status":"recorded","value":{value!r},"values":{{{name}:{{"value":{value!r},"std":null}}}},'
        f'"replaced":{{}},"observation":{number},"key":{encode_basestring(key)},"suggestion":null,"replicate":null}}'
        for number, (key, value) in numbered
    )
    upload = receipt.upload if stored and receipt.upload is not None else "null"
    warnings = orjson.dumps([asdict(finding) for finding in receipt.warnings]).decode()
    head = f'{{"stored":{"true" if stored else "false"},"recorded":{len(matches)},"upload":{upload},'
    return f'{head}"results":[{results}],"warnings":{warnings}}}'.encode()


def _match_json(match: Match) -> dict[str, Any]:
    """A `MatchOut`."""
    return {
        "row": match.report.row,
        "status": match.status,
        "value": only_value(match.values),
        "values": _values_json(match.values),
        "replaced": _values_json(match.replaced),
        "observation": match.observation,
        "key": match.key,
        "suggestion": text_of(match.suggestion),
        "replicate": match.replicate,
    }


def _values_json(values: Outcome) -> dict[str, Any]:
    return {name: {"value": measured.value, "std": measured.std} for name, measured in values.items()}
