"""Report what was measured: one transaction that checks, appends events and updates what dashboards read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.batches import SuggestionState
from app.domain.errors import Invalid
from app.domain.findings import Finding
from app.domain.reports import Report
from app.domain.studies import Study
from app.services import studies
from app.services.placing import Placed, Placing
from app.services.resources import Resources
from app.storage import ledger

OBSERVATIONS_PER_EVENT = 1_000
EXTREME = 1e100


@dataclass(frozen=True)
class Reported:
    """What became of each report, in order, and what seemed odd."""

    placed: tuple[Placed, ...]
    warnings: tuple[Finding, ...]
    study: Study


class DryRun(Exception):
    """Everything was checked; carries what would have been reported, and nothing is kept."""

    def __init__(self, reported: Reported) -> None:
        self.reported = reported


def report(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    reports: Sequence[Report],
    *,
    skip_repeated: bool = False,
    dry_run: bool = False,
) -> Reported:
    """Take in reports, all or none. Nothing real is ever too late: only a deleted study refuses them."""
    study = studies.lock(connection, actor, name)
    placing = Placing(connection, resources, study, reports, skip_repeated=skip_repeated)
    placed = tuple(one for each in reports for one in placing.place(each))
    placing.refuse_if_any_is_wrong()
    study = _record_values(connection, actor, study, [one for one in placed if one.status == "recorded"])
    study = _record_failures(connection, actor, study, [one for one in placed if one.status in ("failed", "abandoned")])
    reported = Reported(placed, (*placing.warnings, *_extremes(placed)), study)
    if dry_run:
        raise DryRun(reported)
    return reported


def _record_values(connection: Connection, actor: Actor, study: Study, new: Sequence[Placed]) -> Study:
    for start in range(0, len(new), OBSERVATIONS_PER_EVENT):
        part = new[start : start + OBSERVATIONS_PER_EVENT]
        payload = {"observations": [_line(one) for one in part]}
        study = ledger.append(connection, study, actor, "observations-reported", payload)
    return study


def _record_failures(connection: Connection, actor: Actor, study: Study, lost: Sequence[Placed]) -> Study:
    """Suggestions that will not be measured, candidates that cannot be, and failures that nobody waited for."""
    for state in (SuggestionState.FAILED, SuggestionState.ABANDONED):
        gone = [one for one in lost if one.status == state and one.batch is not None]
        if gone:
            lines = [{"batch": one.batch, "rank": one.rank, "reason": one.reason} for one in gone]
            payload = {"state": state, "suggestions": lines}
            study = ledger.append(connection, study, actor, "suggestions-resolved", payload)
    for one in lost:
        failed = one.report.failed
        if failed is not None and not failed.retry:
            switched = {"candidate": one.candidate, "key": one.key, "available": False}
            study = ledger.append(connection, study, actor, "candidate-switched", switched, failed.reason)
        elif one.batch is None:  # nobody waited for it: nothing changes, but it was said
            said = {"candidate": one.candidate, "key": one.key}
            study = ledger.append(connection, study, actor, f"measurement-{one.status}", said, one.reason)
    return study


def _line(one: Placed) -> dict[str, Any]:
    """An observation as the ledger keeps it; what was not said is left out."""
    said = {name: getattr(one.report, name) for name in ("ref", "measured_at", "measured_by", "note")}
    place = {"batch": one.batch, "rank": one.rank, "replicate": one.replicate}
    line = {"observation": one.observation, "candidate": one.candidate, "value": one.value, **place, **said}
    return {name: value for name, value in line.items() if value is not None}


def _extremes(placed: Sequence[Placed]) -> list[Finding]:
    return [
        Finding("extreme-value", "Stored as it is; is it real?", row=one.report.row)
        for one in placed
        if one.value is not None and abs(one.value) > EXTREME
    ]


def must_not_be_empty(reports: Sequence[Report]) -> None:
    if not reports:
        raise Invalid([Finding("no-observations", "There is nothing in it.")])
