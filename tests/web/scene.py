"""Realistic studies for the page's tests and screenshots, made over HTTP as any client would."""

import csv
import io
import math
import random
from dataclasses import dataclass, field
from typing import Any

import httpx

SOLVENTS = {"DMF": 0.3, "THF": 0.1, "Toluene": 0.55, "MeCN": 0.0, "Dioxane": 0.45}
BASES = {"K2CO3": 0.2, "Cs2CO3": 0.5, "Et3N": 0.0, "K3PO4": 0.4}
LIGANDS = {"XPhos": 0.6, "SPhos": 0.5, "PPh3": 0.0, "dppf": 0.3}


def suzuki(rows: int = 480, seed: int = 7) -> tuple[str, dict[str, float]]:
    """A CSV of reactions and their true yields: smooth in temperature and time, with good and bad partners."""
    dice = random.Random(seed)
    text, truth = io.StringIO(), {}
    writer = csv.writer(text)
    writer.writerow(["key", "temperature", "hours", "loading", "solvent", "base", "ligand", "plate"])
    for number in range(rows):
        key = f"{'ABCDEFGH'[number // 60 % 8]}{number // 12 % 5 + 1}-{number % 12 + 1:02d}-{number:03d}"
        temperature, hours = dice.randrange(40, 121, 5), dice.choice([2, 4, 6, 8, 12, 16, 24])
        loading = dice.choice([0.5, 1, 2, 3, 5])
        solvent, base, ligand = dice.choice([*SOLVENTS]), dice.choice([*BASES]), dice.choice([*LIGANDS])
        writer.writerow([key, temperature, hours, loading, solvent, base, ligand, f"P{number // 96 + 1}"])
        heat = math.exp(-(((temperature - 92) / 26) ** 2))
        time = 1 - math.exp(-hours / 5)
        partners = (SOLVENTS[solvent] + BASES[base] + LIGANDS[ligand]) / 1.65
        truth[key] = 96 * heat * time * (0.35 + 0.65 * partners) * (1 - math.exp(-loading / 1.2)) ** 0.5
    return text.getvalue(), truth


@dataclass
class Scene:
    """A server with an admin's key: makes studies and measures what is suggested."""

    address: str
    key: str = field(repr=False)

    def __post_init__(self) -> None:
        self.http = httpx.Client(
            base_url=self.address, headers={"Authorization": f"Bearer {self.key}"}, timeout=60, trust_env=False
        )
        self.dice = random.Random(3)

    def __enter__(self) -> "Scene":
        return self

    def __exit__(self, *_failure: object) -> None:
        self.http.close()

    def send(self, method: str, path: str, **more: Any) -> Any:
        answer = self.http.request(method, path, **more)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def study(self, name: str, text: str, **settings: Any) -> None:
        self.send("PUT", f"/v1/studies/{name}", json=settings)
        path = f"/v1/studies/{name}/candidates?attribute=plate" if "plate" in text.split("\n", 1)[0] else ""
        self.send("PUT", path or f"/v1/studies/{name}/candidates", content=text, headers={"Content-Type": "text/csv"})

    def ask(self, name: str, worker: str, **more: Any) -> Any:
        return self.send("POST", f"/v1/studies/{name}/batches", json={"worker": worker, **more})

    def report(self, name: str, *reports: dict[str, Any]) -> Any:
        return self.send("POST", f"/v1/studies/{name}/observations", json={"observations": list(reports)})

    def measure(self, name: str, batch: Any, truth: dict[str, float], noise: float = 1.2, leave: int = 0) -> None:
        """Report every suggestion of a batch but the last few."""
        reports = []
        for one in batch["suggestions"][: len(batch["suggestions"]) - leave]:
            true = truth[one["key"]]
            values = [round(max(0.0, true + self.dice.gauss(0, noise)), 1) for _ in range(one["replicates"])]
            reports.append({"suggestion": one["suggestion"], "values": values})
        if reports:
            self.report(name, *reports)

    def new_key(self, role: str, *studies: str, name: str = "") -> str:
        body = {"name": name or f"a {role}", "role": role, "studies": list(studies)}
        made: str = self.send("POST", "/v1/keys", json=body)["key"]
        return made


def worked_study(scene: Scene, name: str, rounds: int = 10, size: int = 6) -> dict[str, float]:
    """A study of about `rounds · size` results with two benches at work."""
    text, truth = suzuki()
    scene.study(
        name,
        text,
        objective="yield",
        unit="%",
        description="Suzuki coupling of the aryl bromide on the 480-well plate: which conditions give the best yield?",
        first_batch=10,
        max_batch=24,
        repeats=3,
    )
    for number in range(rounds):
        batch = scene.ask(name, f"bench-{number % 2 + 1}", min_size=size - number % 3, max_size=size + 3)
        scene.measure(name, batch, truth)
    return truth
