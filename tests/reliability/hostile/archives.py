"""Archives that nobody should believe: damaged ones, and forged ones whose hashes are all right."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from app.domain.codec import canonical
from app.domain.ledger import RENAMING, seal
from app.storage import blobs

Forge = Callable[[bytes], bytes]


def rewritten(content: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """The archive with some of its members changed, or left out."""
    file = BytesIO()
    with ZipFile(BytesIO(content)) as old, ZipFile(file, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            member = change(name, old.read(name))
            if member is not None:
                new.writestr(name, member)
    return file.getvalue()


def resealed(content: bytes, change: Callable[[dict[str, Any]], None], name: str = "s") -> bytes:
    """The archive with changed events in a chain that is sound again."""

    def ledger(member: str, lines: bytes) -> bytes | None:
        if member == "signature.json":
            return None
        if member == "manifest.json":
            return json.dumps({"format": 1, "study": name, "events": len(events), "head": events[-1]["hash"]}).encode()
        return "\n".join(map(canonical, events)).encode() if member == "ledger.jsonl" else lines

    events = _changed_events(content, change, name)
    return rewritten(content, ledger)


def _changed_events(content: bytes, change: Callable[[dict[str, Any]], None], name: str) -> list[dict[str, Any]]:
    events = events_of(content)
    originals = [event["hash"] for event in events]
    for event in events:
        event["payload"] = json.loads(event["payload"])
        change(event)
    previous, forged = "0" * 64, dict[str, str]()
    for place, (event, original) in enumerate(zip(events, originals, strict=True)):
        payload = event.get("payload")
        _rest_on(forged, payload)
        event |= {"payload": canonical(payload), "previous": previous}
        previous = event["hash"] = forged[original] = seal(_name_at(events[place + 1 :], name), event)
    return events


def events_of(content: bytes) -> list[dict[str, Any]]:
    with ZipFile(BytesIO(content)) as archive:
        return [json.loads(line) for line in archive.read("ledger.jsonl").splitlines()]


def _name_at(later: list[dict[str, Any]], name: str) -> str:
    """The name that a study had before these events, if one of them gave it another."""
    for event in later:
        payload = event.get("payload")
        renamed = payload.get("study") if isinstance(payload, dict) else None
        if event.get("type") in RENAMING and isinstance(renamed, str):
            return renamed
    return name


def _rest_on(forged: dict[str, str], payload: Any) -> None:
    """A careful forger lets batches and forks rest on the forged past."""
    basis = payload.get("basis") if isinstance(payload, dict) else None
    for named, member in ((basis, "hash"), (payload, "head")):
        if isinstance(named, dict) and isinstance(named.get(member), str):
            named[member] = forged.get(named[member], named[member])


def without(member: str) -> Callable[[bytes], bytes]:
    return lambda content: rewritten(content, lambda name, data: None if name.startswith(member) else data)


def another_array(content: bytes) -> bytes:
    file = BytesIO()
    np.save(file, np.zeros(3))
    return rewritten(content, lambda name, data: file.getvalue() if name.startswith("arrays/") else data)


def boundless_array(content: bytes) -> bytes:
    """An array whose header promises terabytes."""
    file = BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    return rewritten(content, lambda name, data: file.getvalue() if name.startswith("arrays/") else data)


def edited(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda content: rewritten(content, lambda _name, data: data.replace(old, new))


def merged(old: Any, new: Any) -> Any:
    """The members of `new` in the place of those of `old`, at every depth."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return {**old, **{name: merged(old.get(name), value) for name, value in new.items()}}


def told(event_type: str, **changes: Any) -> Callable[[bytes], bytes]:
    """Another story, well sealed."""

    def change(event: dict[str, Any]) -> None:
        if event["type"] == event_type:
            event["payload"] = merged(event["payload"], changes)

    return lambda content: resealed(content, change)


def bomb(content: bytes) -> bytes:
    return rewritten(content, lambda name, data: b"\n" * 30_000_000 if name == "ledger.jsonl" else data)


def entry(event_type: str, **changes: Any) -> Forge:
    """Another entry around the same event, well sealed."""

    def change(event: dict[str, Any]) -> None:
        if event["type"] == event_type:
            event.update(changes)

    return lambda content: resealed(content, change)


def told_first(event_type: str, change_first: Callable[[dict[str, Any]], None]) -> Forge:
    """The first event of a type, changed in place and well sealed."""

    def forge(content: bytes) -> bytes:
        left = [event_type]

        def change(event: dict[str, Any]) -> None:
            if left and event["type"] == left[0]:
                left.clear()
                change_first(event["payload"])

        return resealed(content, change)

    return forge


def configured(**settings: Any) -> Forge:
    return told("study-created", configuration=settings)


def reported(**changes: Any) -> Forge:
    return told_first("observations-reported", lambda payload: payload["observations"][0].update(changes))


def suggested(**changes: Any) -> Forge:
    return told_first("batch-issued", lambda payload: payload["suggestions"][0].update(changes))


def other_cells(name: str, change: Callable[[Any], Any]) -> Forge:
    """An array of the first block with other cells, under its right digest."""

    def forge(content: bytes) -> bytes:
        first = next(json.loads(e["payload"]) for e in events_of(content) if e["type"] == "candidates-uploaded")
        arrays = first["block"]["arrays"]
        digest = arrays["keys"][name.removeprefix("keys ")] if name.startswith("keys ") else arrays[name]
        return with_array(content, digest, change)

    return forge


def with_array(content: bytes, digest: str, change: Callable[[Any], Any], name: str = "s") -> bytes:
    """The archive with another array in the place of this one, under its right digest."""
    with ZipFile(BytesIO(content)) as archive:
        array = np.load(BytesIO(archive.read(f"arrays/{digest}.npy")))
    changed = np.ascontiguousarray(change(array.copy()))
    other = blobs.name(changed)

    def replace_member(member: str, data: bytes) -> bytes:
        return data.replace(digest.encode(), other.encode()) if member == "ledger.jsonl" else data

    file = BytesIO()
    np.save(file, changed)
    renamed = resealed(rewritten(content, replace_member), lambda _event: None, name)
    with ZipFile(BytesIO(renamed)) as old, ZipFile(buffer := BytesIO(), "w", ZIP_DEFLATED) as new:
        for member in old.namelist():
            new.writestr(member, old.read(member))
        if f"arrays/{other}.npy" not in old.namelist():
            new.writestr(f"arrays/{other}.npy", file.getvalue())
    return buffer.getvalue()


def lying_header(content: bytes) -> bytes:
    """A manifest of thirty megabytes, of which the directory of the zip file says that it has a few bytes."""
    bloated = rewritten(content, lambda name, data: data + b" " * 30_000_000 if name == "manifest.json" else data)
    with ZipFile(BytesIO(bloated)) as archive:
        size = archive.getinfo("manifest.json").file_size
    return bloated.replace(size.to_bytes(4, "little"), (200).to_bytes(4, "little"))


def many_members(content: bytes) -> bytes:
    """A directory of a million files, each of which is the same one."""
    with ZipFile(file := BytesIO(), "w") as archive:
        archive.writestr("a", b"")
    alone = file.getvalue()
    begin, end = alone.index(b"PK\x01\x02"), alone.index(b"PK\x05\x06")
    directory = alone[begin:end] * 1_000_000
    ended = bytearray(alone[end:])
    ended[12:16] = len(directory).to_bytes(4, "little")
    return alone[:begin] + directory + bytes(ended)


def _set(array: Any, value: Any) -> Any:
    array[(0,) * array.ndim] = value
    return array


def _retype(results: dict[str, Any]) -> None:
    """The numbers of a column as texts."""
    results["texts"] |= {name: [str(number) for number in numbers] for name, numbers in results["numbers"].items()}
    results["numbers"] = {}


OBSERVATION: dict[str, Any] = {"observation": 1, "candidate": 0, "values": {"value": {"value": 1.0}}}

DAMAGED: dict[str, Forge] = {
    "no zip": lambda content: b"PK" + content[2:100],
    "truncated": lambda content: content[: len(content) // 2],
    "members before the beginning": lambda content: content[:-6] + b"\xff\xff\xff\x7f" + content[-2:],
    "a bomb": bomb,
    "no manifest": without("manifest"),
    "no ledger": without("ledger"),
    "no arrays": without("arrays/"),
    "another format": edited(b'"format": 1', b'"format": 2'),
    "an altered event": edited(b"THF-20", b"THF-90"),
    "another array": another_array,
    "a boundless array": boundless_array,
    "a header that lies": lying_header,
    "a million files": many_members,
    "a name that leads elsewhere": lambda content: resealed(content, lambda _event: None, "../../etc"),
    "a name without end": lambda content: resealed(content, lambda _event: None, "x" * 1000),
    "a configuration that is none": told("study-created", configuration={"min_batch": "many"}),
    "an algorithm that is none": told("study-created", configuration={"direction": "up"}),
    "more rows than there are": told("candidates-uploaded", block={"rows": 10**9}),
    "arrays that are none": told("candidates-uploaded", block={"arrays": {"numbers": "x"}}),
    "a path for an array": told("candidates-uploaded", block={"arrays": {"numbers": "../../etc/passwd"}}),
    "a candidate that is not there": told("observations-reported", observations=[OBSERVATION | {"candidate": 99}]),
    "text for a number": told(
        "observations-reported", observations=[OBSERVATION | {"values": {"value": {"value": "x"}}}]
    ),
    "an observation twice": told("observations-reported", observations=[OBSERVATION] * 2),
}

FORGED: dict[str, Forge] = {
    **{f"a batch of {size}": configured(max_batch=size) for size in (0, -1, 10**9)},
    "a seed beyond the largest": configured(seed=2**70),
    "an endless description": configured(description="x" * 100_000),
    "a NUL in the unit": configured(objectives=[{"name": "value", "unit": "\0", "direction": "maximize"}]),
    "two objectives": configured(objectives=[{"name": n, "unit": "", "direction": "maximize"} for n in "ab"]),
    "no objective": configured(objectives=[]),
    "an objective of another name": configured(objectives=[{"name": "x", "unit": "", "direction": "maximize"}]),
    "an unknown algorithm": configured(algorithm="alchemy"),
    "a model that cannot be": configured(theory={"kernel": {"kind": "gaussian", "lengthscale": 1}, "scale": 5e-324}),
    "a stop at no date": configured(stop={"date": "someday"}),
    "negative hours": configured(overdue_hours=-1.0),
    "a deleted study": told("study-changed", state="deleted"),
    "an erased study, restored": entry("study-deleted", type="study-erased"),
    "a study restored to another state": told("study-restored", state="paused"),
    "a study restored that nobody deleted": entry("study-deleted", type="access-granted", payload={"key_id": "a"}),
    "another seed on the way": told("study-changed", configuration={"seed": 9}),
    "an actor without end": entry("study-created", actor="x" * 51),
    "an actor that is no key": entry("study-created", actor="<script>"),
    "no moment": entry("study-created", recorded_at="long ago"),
    "an endless reason": entry("candidates-uploaded", reason="x" * 5_000),
    "an empty reason": entry("observation-corrected", reason=""),
    "no reason": entry("observation-retracted", reason=None),
    "an unknown event": entry("candidates-switched", type="study-abducted"),
    "an event of a later format": entry("candidates-switched", format=99),
    "a created study, created again": entry("candidates-switched", type="study-created"),
    "a negative candidate": reported(candidate=-1),
    "an observation out of turn": reported(observation=7),
    "a suggestion that nobody made": reported(suggestion=[9, 9], replicate=1),
    "a suggestion of another candidate": reported(suggestion=[1, 1], replicate=1, candidate=23),
    "half a suggestion": reported(suggestion=None),
    "another objective": reported(values={"cost": {"value": 1.0}}),
    "no value": reported(values={}),
    "a negative error": reported(values={"value": {"value": 1.0, "std": -1.0}}),
    "an endless reference": reported(ref="x" * 1_000),
    "an endless note": reported(note="x" * 20_000),
    "measured at no moment": reported(measured_at="noon"),
    "a version skipped": told("observation-corrected", version=5),
    "a correction of nothing": told("observation-corrected", observation=99),
    "a retraction of nothing": told("observation-retracted", observation=0),
    "a batch out of turn": told_first("batch-issued", lambda payload: payload.update(number=5)),
    "a batch of nothing": told_first("batch-issued", lambda payload: payload.update(suggestions=[])),
    "a batch from another past": told_first("batch-issued", lambda payload: payload["basis"].update(hash="0" * 64)),
    "a batch from the future": told_first("batch-issued", lambda payload: payload["basis"].update(seq=99)),
    "a worker that is no name": told_first("batch-issued", lambda payload: payload["request"].update(worker="a b")),
    "a suggestion of nothing": suggested(candidate=99),
    "no replicates": suggested(replicates=0),
    "a neighbour that is not there": told_first(
        "batch-issued",
        lambda payload: payload["suggestions"][0]["why"].update(nearest=[{"candidate": 99, "similarity": 1}]),
    ),
    "a best that is not there": told_first(
        "batch-issued", lambda payload: payload["record"].update(best={"candidate": 99, "mean": 1.0, "std": 1.0})
    ),
    "a key of another candidate": told("candidates-switched", candidates=[{"candidate": 0, "key": "THF-90"}]),
    "a fork of another past": told("fork-started", head="0" * 64),
    "a fork of nothing": told("study-forked", at=10**6),
    "borrowed from no study": told_first("results-borrowed", lambda payload: payload["earlier"][0].update(study="a b")),
    "borrowed values without candidates": told_first(
        "results-borrowed", lambda payload: payload["earlier"][0]["values"].append(1.0)
    ),
    "borrowed texts of a number": told_first("results-borrowed", lambda payload: _retype(payload["earlier"][0])),
    "a reservation of what is not there": told("candidates-reserved", candidates=[{"candidate": 99, "key": "X"}]),
    "a release of what nobody reserved": told("reservations-released", candidates=[{"candidate": 0, "key": "DMF-20"}]),
    "a swap of what is not pending": told("suggestion-swapped", suggestion=[1, 1]),
    "a swap out of turn": told("suggestion-swapped", rank=9),
    "a swap without a reason": entry("suggestion-swapped", reason=None),
    "a failure without a reason": told_first(
        "measurements-failed", lambda payload: payload["failures"][0].update(reason="")
    ),
    "a column twice": told_first(
        "candidates-uploaded", lambda payload: payload["columns"].append(payload["columns"][1])
    ),
    "a column without a name": told_first("candidates-uploaded", lambda payload: payload["columns"][1].update(name="")),
    "no features": told_first(
        "candidates-uploaded", lambda payload: [column.update(role="attribute") for column in payload["columns"][1:]]
    ),
    "a level too few": told_first("candidates-uploaded", lambda payload: payload["columns"][2].update(levels=["DMF"])),
    "a level twice": told_first(
        "candidates-uploaded", lambda payload: payload["columns"][2].update(levels=["DMF", "DMF", "MeOH"])
    ),
    "arrays elsewhere": told_first("candidates-uploaded", lambda payload: payload["block"].update(stored_in="files")),
    "candidates that begin later": told_first("candidates-uploaded", lambda payload: payload["block"].update(first=1)),
    "a feature that is no number": other_cells("numbers", lambda array: _set(array, np.nan)),
    "an infinite feature": other_cells("numbers", lambda array: _set(array, np.inf)),
    "features of another type": other_cells("numbers", lambda array: array.astype("<f4")),
    "features of candidates that are not there": other_cells("numbers", lambda array: np.resize(array, (10**6, 1))),
    "features of another shape": other_cells("numbers", lambda array: array[:-1]),
    "a code that is no level": other_cells("codes", lambda array: _set(array, 99)),
    "a negative code": other_cells("codes", lambda array: _set(array, -1)),
    "keys that overlap": other_cells("keys ends", lambda array: _set(array, 10**9)),
    "keys that are no text": other_cells("keys content", lambda array: _set(array, 0xFE)),
    "the same key twice": other_cells("keys content", lambda array: np.resize(array[:6], array.shape)),
    "an index that misleads": other_cells("keys rows", lambda array: array[::-1]),
    "hashes that mislead": other_cells("keys hashes", lambda array: _set(array, 0)),
}
