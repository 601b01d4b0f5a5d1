"""A lab at work: a study with a list of candidates, and the calls its people make."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi.testclient import TestClient
from httpx2 import Response

SOLVENTS = ("DMF", "THF", "MeOH")
LIST = "key,temperature,solvent\n" + "".join(
    f"{solvent}-{temperature},{temperature},{solvent}\n" for temperature in range(20, 100, 10) for solvent in SOLVENTS
)
"""24 candidates."""

MOST_SECONDS = 600  # for a batch: a busy machine is no reason to answer that it is still being computed

THEORY = {"kernel": {"kind": "gaussian", "lengthscale": 0.5}, "noise": 0.1, "norm": 2.0}


def truth(key: str) -> float:
    """What a measurement of a candidate gives."""
    solvent, _, temperature = key.partition("-")
    if solvent not in SOLVENTS:
        return float(len(key))
    return SOLVENTS.index(solvent) * 0.1 - ((float(temperature) - 60) / 40) ** 2


@dataclass(frozen=True)
class Lab:
    client: TestClient
    study: str = "s"

    @property
    def path(self) -> str:
        return f"/v1/studies/{self.study}"

    def begin(self, candidates: str = LIST, costs: str | None = None, **settings: Any) -> "Lab":
        """`costs` names the column that says what a measurement costs."""
        made = self.client.put(self.path, json=settings)
        params, headers = {"cost": costs} if costs else {}, {"Content-Type": "text/csv"}
        uploaded = self.client.put(f"{self.path}/candidates", content=candidates, params=params, headers=headers)
        assert (made.status_code, uploaded.status_code) == (201, 201), made.text + uploaded.text
        return self

    def ask(self, worker: str = "w", headers: dict[str, str] | None = None, **wanted: Any) -> Response:
        return self.client.post(f"{self.path}/batches", json={"worker": worker, **wanted}, headers=headers)

    def batch(self, worker: str = "w", **wanted: Any) -> dict[str, Any]:
        """A new batch."""
        asked = self.ask(worker, **{"wait": MOST_SECONDS, **wanted})
        assert asked.status_code == 201, asked.text
        found: dict[str, Any] = asked.json()
        return found

    def send(self, body: dict[str, Any], headers: dict[str, str] | None = None, **params: Any) -> Response:
        return self.client.post(f"{self.path}/observations", json=body, params=params, headers=headers)

    def report(self, **one: Any) -> Response:
        return self.send(one)

    def sheet(self, content: str | bytes, **params: Any) -> Response:
        headers = {"Content-Type": "text/csv"}
        return self.client.post(f"{self.path}/observations", content=content, headers=headers, params=params)

    def measure(self, batch: dict[str, Any], outcome: Callable[[str], dict[str, float]] | None = None) -> None:
        """Report everything a batch wants; `outcome` gives the values of several quantities."""
        lines = [
            {
                "suggestion": one["suggestion"],
                **(
                    {"replicates": [outcome(one["key"])] * one["replicates"]}
                    if outcome
                    else {"values": [truth(one["key"])] * one["replicates"]}
                ),
            }
            for one in batch["suggestions"]
        ]
        assert self.send({"observations": lines}).status_code == 201

    def work(self, batches: int, **wanted: Any) -> list[dict[str, Any]]:
        """Ask and measure so many times."""
        done = []
        for _ in range(batches):
            done.append(self.batch(**wanted))
            self.measure(done[-1])
        return done

    def change(self, **settings: Any) -> Response:
        return self.client.patch(self.path, json=settings, headers={"If-Match": "*"})

    def switch_off(self, key: str) -> Response:
        return self.client.patch(f"{self.path}/candidates/{key}", json={"available": False, "reason": "broken"})

    def correct(self, number: int, value: float, reason: str = "typo", version: str = "*") -> Response:
        return self.send_correction(number, {"value": value}, reason, version)

    def send_correction(
        self, number: int, measured: dict[str, Any], reason: str = "typo", version: str = "*"
    ) -> Response:
        path = f"{self.path}/observations/{number}/corrections"
        return self.client.post(path, json={**measured, "reason": reason}, headers={"If-Match": version})

    def retract(self, number: int, reason: str = "wrong vial", version: str = "*") -> Response:
        path = f"{self.path}/observations/{number}/retraction"
        return self.client.post(path, json={"reason": reason}, headers={"If-Match": version})

    def get(self, part: str, **params: Any) -> Any:
        answer = self.client.get(f"{self.path}/{part}", params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def observations(self, **params: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("observations", **params)["observations"]
        return found

    def events(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("events", limit=1000)["events"]
        return found

    def is_sound(self) -> bool:
        return bool(self.client.post(f"{self.path}/verify").json()["sound"])

    def replays(self, number: int) -> bool:
        return bool(self.client.post(f"{self.path}/batches/{number}/replay").json()["equal"])


def keys(batch: dict[str, Any]) -> list[str]:
    return [one["key"] for one in batch["suggestions"]]
