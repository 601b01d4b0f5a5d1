"""A row that names one candidate and describes another: the finding says both, and the row is refused."""

from app.domain.batches import Suggestion
from app.domain.candidates import Candidate, CellValue
from app.domain.errors import Finding
from app.domain.observations import Report
from app.services.intake.conditions import contradictions

_REMEDY = "Was one column sorted or moved alone? Put the row together again; nothing was stored."


def finding_at(report: Report, code: str, message: str, column: str | None = None) -> Finding:
    """A finding at the place of a report: its row in a sheet, or its position in a JSON list."""
    return Finding(code, message, report.row, column if report.row else None, report.pointer)


def other_key(report: Report, suggestion: Suggestion, own_key: str, *, is_known: bool) -> Finding:
    """The row's key is not that of its suggestion. An unknown key is not repeated."""
    where = f"row {report.row}" if report.row else "the report"
    key = f"{where} has the key {report.candidate}" if is_known else f"the key in {where} is none of the study's"
    message = f"{suggestion.id} is {own_key}, but {key}. {_REMEDY}"
    return finding_at(report, "other-candidate", message, "key")


def other_conditions(report: Report, suggestion: Suggestion | None, candidate: Candidate) -> Finding | None:
    """The row's conditions are not those of the candidate that it names; None if they agree."""
    column = next(iter(contradictions(candidate, report.conditions)), None)
    if column is None:
        return None
    name = f"{suggestion.id} ({candidate.key})" if suggestion else candidate.key
    value = {**candidate.attributes, **candidate.features}[column]
    message = f"{name} has {column} {_shown(value)}, but the row has another value there. {_REMEDY}"
    return finding_at(report, "other-conditions", message, column)


def _shown(value: CellValue) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)
