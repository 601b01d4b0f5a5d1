"""What an event changes in the tables that are read: the one way from the ledger to them.

Whatever happens is appended to the ledger and applied here, in the same transaction; an imported ledger is applied
here as well, and gives the same rows.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from app.domain.batches import Batch, BatchState, Suggestion, SuggestionState
from app.domain.candidates import columns_from
from app.domain.ledger import Event
from app.domain.observations import Kind, Observation
from app.domain.studies import Study, StudyState, configuration_from
from app.storage import batches, candidates, observations, studies
from app.storage.candidates import Block

Payload = dict[str, Any]


def apply(connection: Connection, study: Study, event: Event) -> Study:
    """Bring the tables up to an event just appended; the study as it is then."""
    change = _CHANGES.get(event.type)
    if change is None:
        return study
    changed = change(connection, study, event, json.loads(event.payload))
    if changed is not study:
        changed = replace(changed, version=study.version + 1)
        studies.save(connection, changed)
    return changed


def _changed(_connection: Connection, study: Study, _event: Event, payload: Payload) -> Study:
    configuration = configuration_from(payload["configuration"])
    return replace(study, state=StudyState(payload["state"]), configuration=configuration)


def _deleted(_connection: Connection, study: Study, _event: Event, _payload: Payload) -> Study:
    return replace(study, state=StudyState.DELETED)


def _uploaded(connection: Connection, study: Study, event: Event, payload: Payload) -> Study:
    candidates.drop_blocks(connection, study)
    return _added(connection, study, event, payload)


def _added(connection: Connection, study: Study, _event: Event, payload: Payload) -> Study:
    block = Block(payload["first"], payload["rows"], payload["arrays"])
    candidates.add_block(connection, study, block)
    return replace(study, columns=columns_from(payload["columns"]), candidates=block.first + block.rows)


def _switched(connection: Connection, study: Study, event: Event, payload: Payload) -> Study:
    if payload["available"]:
        candidates.switch_on(connection, study, payload["candidate"])
    else:
        candidates.switch_off(connection, study, payload["candidate"], event.reason or "")
    return study


def _issued(connection: Connection, study: Study, event: Event, payload: Payload) -> Study:
    number, lines = payload["number"], payload["suggestions"]
    batch = Batch(
        number,
        payload["worker"],
        BatchState.OPEN,
        sum(line["replicates"] for line in lines),
        payload["basis_seq"],
        event.seq,
        payload["record"] | {"seconds": payload["seconds"]},
        event.recorded_at,
    )
    suggestions = [
        Suggestion(number, rank, line["candidate"], line["replicates"], SuggestionState.PENDING, line["record"])
        for rank, line in enumerate(lines, start=1)
    ]
    batches.add(connection, study, batch, suggestions)
    return study


def _reported(connection: Connection, study: Study, event: Event, payload: Payload) -> Study:
    common: Payload = {"version": 1, "current": True, "kind": Kind.RECORDED, **_who(event)}
    lines = [{**common, **line, "number": line["observation"]} for line in payload["observations"]]
    for line in lines:
        del line["observation"]
    observations.add(connection, study, [Observation(**line) for line in lines])
    places = {(line["batch"], line["rank"]) for line in lines if "batch" in line}
    batches.resolve(connection, study, observations.completed(connection, study, places), SuggestionState.OBSERVED)
    return study


def _resolved(connection: Connection, study: Study, _event: Event, payload: Payload) -> Study:
    places = [(line["batch"], line["rank"]) for line in payload["suggestions"]]
    batches.resolve(connection, study, places, SuggestionState(payload["state"]))
    return study


def _corrected(connection: Connection, study: Study, event: Event, payload: Payload) -> Study:
    return _superseded(connection, study, event, payload, {"kind": Kind.RECORDED, "value": payload["value"]})


def _retracted(connection: Connection, study: Study, event: Event, payload: Payload) -> Study:
    return _superseded(connection, study, event, payload, {"kind": Kind.RETRACTED})


def _superseded(connection: Connection, study: Study, event: Event, payload: Payload, changes: Payload) -> Study:
    old = observations.versions(connection, study, payload["observation"])[-1]
    fields: Payload = {"version": payload["version"], "reason": event.reason, **_who(event), **changes}
    observations.supersede(connection, study, replace(old, **fields))
    return study


def _who(event: Event) -> Payload:
    return {"actor": event.actor, "recorded_at": event.recorded_at, "seq": event.seq}


def _granted(connection: Connection, study: Study, _event: Event, payload: Payload) -> Study:
    studies.grant(connection, payload["key"], study)
    return study


def _withdrawn(connection: Connection, study: Study, _event: Event, payload: Payload) -> Study:
    studies.withdraw(connection, payload["key"], study)
    return study


_CHANGES: dict[str, Callable[[Connection, Study, Event, Payload], Study]] = {
    "study-changed": _changed,
    "study-deleted": _deleted,
    "candidates-uploaded": _uploaded,
    "candidates-added": _added,
    "candidate-switched": _switched,
    "batch-issued": _issued,
    "observations-reported": _reported,
    "suggestions-resolved": _resolved,
    "observation-corrected": _corrected,
    "observation-retracted": _retracted,
    "access-granted": _granted,
    "access-withdrawn": _withdrawn,
}
