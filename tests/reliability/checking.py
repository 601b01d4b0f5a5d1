"""What must be true of a study after a history: nothing acknowledged is lost, doubled, or told in two ways."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from tests.reliability.fleet import Fleet
from tests.reliability.operations import History, Operation, Outcome

Rows = Mapping[float, list[dict[str, Any]]]  # observations by the value that was reported, in any version
REPLAYED = 3
ALLOWED = {Outcome.OK: (1, 1), Outcome.FAIL: (0, 0), Outcome.UNKNOWN: (0, 1)}


def violations(fleet: Fleet, study: str, history: History) -> list[str]:
    with fleet.client() as client:
        rows, batches = _observations(client, study), _batches(client, study)
        return [
            *history.violations,
            *(words for one in history.operations for words in _effects(one, rows)),
            *_batches_told(history, batches),
            *_stale(history, rows),
            *_chain(client, study, batches),
            *(words for one in history.operations if one.kind == "fork" for words in _fork(client, one, rows)),
        ]


def _effects(one: Operation, rows: Rows) -> Iterator[str]:
    """Each value as often as its outcome allows, all or none of an operation, and under the number that was told."""
    least, most = ALLOWED[one.outcome]
    counts = {value: len(rows[value]) for value in one.values}
    if any(not least <= times <= most for times in counts.values()) or len(set(counts.values())) > 1:
        yield f"{one.kind} {one.outcome}: {counts} (answer: {one.answer})"
    elif one.kind == "report" and one.outcome is Outcome.OK:
        told = [placed["observation"] for placed in one.answer["results"]]
        kept = [rows[value][0]["observation"] for value in one.values]
        if told != kept:
            yield f"report told as {told}, kept as {kept}"


def _batches_told(history: History, batches: Mapping[int, dict[str, Any]]) -> Iterator[str]:
    """What any client was told of a batch is what it is; numbers have no gap."""
    if list(batches) != list(range(1, len(batches) + 1)):
        yield f"batches are numbered {list(batches)}"
    for one in history.operations:
        if (
            one.kind == "ask"
            and one.outcome is Outcome.OK
            and _core(one.answer) != _core(batches.get(one.answer["number"]))
        ):
            yield f"batch {one.answer['number']} was told as {one.answer}, and is {batches.get(one.answer['number'])}"


def _stale(history: History, rows: Rows) -> Iterator[str]:
    """A batch knows every report that was acknowledged before it was asked for."""
    reports = sorted(
        (one.ended, max(rows[value][0]["seq"] for value in one.values))
        for one in history.operations
        if one.kind == "report" and one.outcome is Outcome.OK and all(rows[value] for value in one.values)
    )
    for one in history.operations:
        if one.kind == "ask" and one.outcome is Outcome.OK:
            known = max((seq for ended, seq in reports if ended < one.began), default=0)
            if one.answer["basis_seq"] < known:
                yield f"batch {one.answer['number']} knows {one.answer['basis_seq']}, was asked for after {known}"


def _chain(client: httpx.Client, study: str, batches: Mapping[int, Any]) -> Iterator[str]:
    found = client.post(f"/studies/{study}/verify").json()
    if not found["sound"]:
        yield f"the ledger is broken: {found}"
    for number in list(batches)[-REPLAYED:]:
        replayed = client.post(f"/studies/{study}/batches/{number}/replay").json()
        if not replayed.get("equal"):
            yield f"batch {number} replays otherwise: {replayed}"


def _fork(client: httpx.Client, one: Operation, rows: Rows) -> Iterator[str]:
    """It exists if that was told, with every result that its study had at that event; and both name each other."""
    found = client.get(f"/studies/{one.fork}")
    least, most = ALLOWED[one.outcome]
    if not least <= found.is_success <= most:
        yield f"fork {one.fork} {one.outcome}: {found.status_code}"
    if found.is_success:
        at = found.json()["forked_from"]["at"]
        expected = {value for value, versions in rows.items() for row in versions if row["seq"] <= at}
        if set(_observations(client, one.fork)) != expected:
            yield f"fork {one.fork} begins with other results than its study had at event {at}"
        verified = client.post(f"/studies/{one.fork}/verify").json()
        if not verified["sound"]:
            yield f"the ledger of fork {one.fork} is broken: {verified}"


def _observations(client: httpx.Client, study: str) -> Rows:
    rows: dict[float, list[dict[str, Any]]] = defaultdict(list)
    after: int | None = 0
    while after is not None:
        page = client.get(f"/studies/{study}/observations", params={"after": after, "versions": "all"}).json()
        for row in page["observations"]:
            rows[row["value"]].append(row)
        after = page["next"]
    return rows


def _batches(client: httpx.Client, study: str) -> dict[int, dict[str, Any]]:
    batches: dict[int, dict[str, Any]] = {}
    after: int | None = 0
    while after is not None:
        page = client.get(f"/studies/{study}/batches", params={"after": after}).json()
        batches |= {
            one["number"]: client.get(f"/studies/{study}/batches/{one['number']}").json() for one in page["batches"]
        }
        after = page["next"]
    return batches


def _core(batch: Mapping[str, Any] | None) -> object:
    """What of a batch never changes."""
    if batch is None:
        return None
    suggestions = [(one["suggestion"], one["key"], one["replicates"], one["why"]) for one in batch["suggestions"]]
    return batch["number"], batch["worker"], batch["basis_seq"], batch["created_at"], suggestions
