"""Realistic studies for the page's tests and screenshots, made over HTTP as any client would."""

import csv
import io
import math
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
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
    writer.writerow(["key", "temperature (°C)", "time (h)", "loading (mol%)", "solvent", "base", "ligand", "plate"])
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


def alloys(rows: int = 60, seed: int = 5) -> tuple[str, dict[str, float]]:
    """A CSV of titanium alloys and how hard they are."""
    dice = random.Random(seed)
    lines, truth = ["key,aluminium (wt%),vanadium (wt%),annealed at (°C)"], {}
    for number in range(rows):
        aluminium, vanadium, heat = dice.choice([4, 5, 6, 7]), dice.choice([2, 3, 4, 5]), dice.randrange(650, 951, 25)
        key = f"TiAlV-{number + 1:02d}"
        lines.append(f"{key},{aluminium},{vanadium},{heat}")
        truth[key] = 250 + 14 * aluminium + 8 * vanadium - ((heat - 760) / 30) ** 2
    return "\n".join(lines) + "\n", truth


NOTES = ("cloudy after work-up", "second spot on the plate", "new bottle of base", "stirred overnight")
FAILURES = ("vial cracked", "stirrer stopped")


@dataclass
class Scene:
    """A server with somebody's key: makes studies and measures what is suggested."""

    address: str
    key: str = field(repr=False)
    name: str = ""
    days: Path | None = None  # the file that sets the server's clock

    def __post_init__(self) -> None:
        self.http = httpx.Client(
            base_url=self.address, headers={"Authorization": f"Bearer {self.key}"}, timeout=60, trust_env=False
        )
        self.dice = random.Random(3)

    def __enter__(self) -> "Scene":
        return self

    def __exit__(self, *_failure: object) -> None:
        self.http.close()

    def somebody(self, name: str, role: str, *studies: str) -> "Scene":
        """The same server, with a key of somebody else."""
        return Scene(self.address, self.new_key(role, *studies, name=name), name, self.days)

    def set_day(self, ago: int, hour: float = 9.5) -> None:
        """Whatever follows happens at an hour of a day so long ago, if the server lets its clock be set."""
        moment = datetime.now(UTC)
        since = (moment.hour + moment.minute / 60 - hour) / 24
        self._set_clock(max(0.0, ago + since) if ago else 0.0)

    def set_minutes(self, ago: float) -> None:
        self._set_clock(ago / 60 / 24)

    def _set_clock(self, days_ago: float) -> None:
        if self.days:
            self.days.write_text(str(days_ago))

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
        """Report every suggestion of a batch but the last few, as people do: some with a note, a few failed."""
        reports: list[dict[str, Any]] = []
        for one in batch["suggestions"][: len(batch["suggestions"]) - leave]:
            report: dict[str, Any] = {"suggestion": one["suggestion"]}
            if self.name and self.dice.random() < 0.05:
                report["failed"] = {"reason": self.dice.choice(FAILURES)}
            else:
                true = truth[one["key"]]
                report["values"] = [
                    round(max(0.0, true + self.dice.gauss(0, noise)), 1) for _ in range(one["replicates"])
                ]
                report |= {"measured_by": self.name} if self.name else {}
                report |= {"note": self.dice.choice(NOTES)} if self.dice.random() < 0.12 else {}
            reports.append(report)
        if reports:
            self.report(name, *reports)

    def new_key(self, role: str, *studies: str, name: str = "") -> str:
        body = {"name": name or f"a {role}", "role": role, "studies": list(studies)}
        made: str = self.send("POST", "/v1/keys", json=body)["key"]
        return made


SUZUKI = "Suzuki coupling of the aryl bromide in 96-well plates: which conditions give the best yield?"


def worked_study(
    scene: Scene,
    name: str,
    rounds: int = 10,
    size: int = 6,
    description: str = SUZUKI,
    seed: int = 7,
    people: tuple[str, ...] = ("Lena Fischer", "Tom Okafor"),
) -> dict[str, float]:
    """A study of about `rounds · size` results by two people on two benches, one batch every other day."""
    text, truth = suzuki(seed=seed)
    yields = {"name": "yield", "unit": "%", "direction": "maximize", "limits": {"low": 0, "high": 100}}
    scene.set_day(2 * rounds + 1)
    scene.study(name, text, objectives=[yields], description=description, max_batch=24, repeats=3)
    benches = [scene.somebody(person, "technician", name) for person in people]
    for number in range(rounds):
        scene.set_day(2 * (rounds - number))
        bench = number % len(benches)
        batch = scene.ask(name, f"bench-{bench + 1}", min_size=size - number % 3, max_size=size + 3)
        scene.set_day(2 * (rounds - number), hour=15 + number % 3 / 3)
        benches[bench].measure(name, batch, truth)
    scene.set_day(0)
    return truth
