"""What a study is, in the fewest words: the model that the service is held against."""

from dataclasses import dataclass, field

KEYS = tuple(f"K{number}" for number in range(10))
LIST = "key,x,y\n" + "".join(f"{key},{number % 3},{number * 0.37 % 1:.3f}\n" for number, key in enumerate(KEYS))
SEVERAL = {
    "objectives": [{"name": "yield", "direction": "maximize"}, {"name": "waste", "direction": "minimize"}],
    "constraints": [{"name": "purity", "at_least": 0.5}],
}
TRANSITIONS = {
    "active": {"paused", "archived"},
    "paused": {"active", "archived"},
    "archived": {"active", "paused"},
}

Place = tuple[int, int]
Told = tuple[int, str | None]  # status and, of a refusal, its code


@dataclass
class Suggested:
    key: str
    replicates: int
    state: str = "pending"


@dataclass
class Observed:
    key: str
    value: float
    place: Place | None
    version: int = 1
    state: str = "recorded"
    earlier: set[float] = field(default_factory=set)


@dataclass
class Model:
    state: str = "active"
    switched_off: set[str] = field(default_factory=set)
    workers: dict[int, str] = field(default_factory=dict)  # batch → who asked for it
    suggestions: dict[Place, Suggested] = field(default_factory=dict)
    observations: list[Observed] = field(default_factory=list)

    def open_batch(self, worker: str) -> int | None:
        waited_for = {batch for (batch, _), one in self.suggestions.items() if one.state == "pending"}
        return next((batch for batch in sorted(waited_for) if self.workers[batch] == worker), None)

    def at(self, place: Place) -> list[Observed]:
        return [one for one in self.observations if one.place == place]

    def report(self, place: Place, value: float) -> Told:
        """A value for a suggestion that wants one."""
        standing = self.at(place)
        if standing and standing[0].state == "retracted":
            return self._report_again(place, standing[0], value)
        if standing:
            return (200, None) if standing[0].value == value else (409, "already-observed")
        return self._record(self.suggestions[place].key, value, place)

    def _report_again(self, place: Place, one: Observed, value: float) -> Told:
        """A new value, where one was retracted; what was found wrong does not come back by itself."""
        if value in one.earlier | {one.value}:
            return 409, "already-observed"
        one.earlier.add(one.value)
        one.state, one.value, one.version = "recorded", value, one.version + 1
        self.suggestions[place].state = "observed"
        return 201, None

    def is_pending(self, key: str) -> bool:
        return any(one.key == key and one.state == "pending" for one in self.suggestions.values())

    def report_by_key(self, key: str, value: float, *, new: bool) -> Told:
        """A value for a candidate: of its oldest pending suggestion, else unsolicited; once, unless it is new."""
        recorded = (one for one in self.observations if one.key == key and one.state == "recorded")
        if not new and any(one.value == value for one in recorded):
            return 200, None
        waiting = (
            place for place, one in sorted(self.suggestions.items()) if one.key == key and one.state == "pending"
        )
        return self._record(key, value, next(waiting, None))

    def _record(self, key: str, value: float, place: Place | None) -> Told:
        self.observations.append(Observed(key, value, place))
        if place is not None:
            self.suggestions[place].state = "observed"
        return 201, None

    def fail(self, place: Place, retry: bool) -> Told:
        if any(one.state == "recorded" for one in self.at(place)):
            return 409, "already-observed"
        self.suggestions[place].state = "failed"
        if not retry:
            self.switched_off.add(self.suggestions[place].key)
        return 201, None

    def correct(self, number: int, value: float | None, version: int | None) -> Told:
        """Another value; None retracts."""
        one = self.observations[number - 1]
        if version is not None and version != one.version:
            return 412, "precondition-failed"
        wanted = ("retracted", one.value) if value is None else ("recorded", value)
        if repr((one.state, one.value)) != repr(wanted):  # −0.0 is not 0.0
            one.earlier.add(one.value)
            one.state, one.value = wanted
            one.version += 1
        return 200, None

    def close(self, batch: int) -> Told:
        for place, one in self.suggestions.items():
            if place[0] == batch and one.state == "pending":
                one.state = "abandoned"
        return 200, None

    def change(self, state: str) -> Told:
        if state != self.state and state not in TRANSITIONS[self.state]:
            return 409, "forbidden-transition"
        self.state = state
        return 200, None

    def switch(self, key: str, available: bool) -> Told:
        if self.state == "archived":
            return 409, "study-not-active"
        (self.switched_off.discard if available else self.switched_off.add)(key)
        return 200, None
