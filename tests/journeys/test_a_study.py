"""A whole study over real ports: lost answers, a killed process, a correction, and every promise checked at the end."""

import math
from random import Random
from typing import Any

from tests.journeys.fleet import Fleet, Lossy

CANDIDATES, MEASUREMENTS, KILLED_AFTER = 4_000, 300, 120
SOLVENTS = ("DMF", "THF", "MeOH", "water")
STUDY = "/studies/journey"


def candidates() -> str:
    """Numbers, texts, booleans and some missing cells."""
    random = Random(0)
    lines = ["key,temperature,pressure,solvent,dry"]
    for number in range(CANDIDATES):
        pressure = f"{random.uniform(1, 50):.4f}"
        cells = (f"{random.uniform(20, 120):.3f}", pressure, random.choice(SOLVENTS), random.choice(("true", "false")))
        lines.append(f"K{number},{','.join(cells)}")
    return "\n".join(lines)


def measured(features: dict[str, Any], random: Random) -> float:
    hill = math.exp(-(((features["temperature"] - 80) / 30) ** 2)) + 0.1 * SOLVENTS.index(features["solvent"])
    return hill + 0.2 * features["dry"] + 0.01 * features["pressure"] + random.gauss(0, 0.02)


def report(client: Lossy, batch: dict[str, Any], random: Random) -> int:
    """Everything a batch wants, in two calls as people do."""
    lines = [
        {
            "suggestion": one["suggestion"],
            "values": [measured(one["features"], random) for _ in range(one["replicates"])],
        }
        for one in batch["suggestions"]
    ]
    half = len(lines) // 2
    for part in (lines[:half], lines[half:]):
        if part:
            client.send("POST", f"{STUDY}/observations", json={"observations": part})
    return sum(len(line["values"]) for line in lines)


def ask(client: Lossy, worker: str = "bench") -> dict[str, Any]:
    wanted = {"worker": worker, "min_size": 20, "max_size": 40, "wait": 60}
    asked: dict[str, Any] = client.send("POST", f"{STUDY}/batches", json=wanted).json()
    return asked


def test_a_study_survives_lost_answers_and_a_killed_process(fleet: Fleet, empty_server: Fleet) -> None:
    client, random = fleet.client(seed=1), Random(2)
    client.send("PUT", STUDY, json={"direction": "maximize"})
    client.send("PUT", f"{STUDY}/candidates", content=candidates(), headers={"Content-Type": "text/csv"})
    done, batches, killed = 0, 0, False
    while done < MEASUREMENTS:
        batch = ask(client)
        batches += 1
        assert batch["number"] == batches
        if done >= KILLED_AFTER and not killed:
            fleet.kill(0)
            fleet.start()
            killed = True
        done += report(client, batch, random)
    change = {"headers": {"If-Match": "*"}}
    client.send("POST", f"{STUDY}/observations/7/corrections", json={"value": 0.5, "reason": "typo"}, **change)
    client.send("POST", f"{STUDY}/observations/9/retraction", json={"reason": "wrong vial"}, **change)

    counts = client.get(f"{STUDY}/summary")["counts"]
    assert (counts["observations"], counts["batches"], counts["pending"]) == (done - 1, batches, 0)
    assert client.lost > 0
    for number in range(1, batches + 1):
        assert client.send("POST", f"{STUDY}/batches/{number}/replay").json()["equal"], number
    assert client.send("POST", f"{STUDY}/verify").json()["sound"]

    archive = client.send("GET", f"{STUDY}/archive").content
    there = empty_server.client(seed=3)
    there.send(
        "POST",
        "/archives",
        params={"accept_unverified": True},
        content=archive,
        headers={"Content-Type": "application/zip"},
    )
    here_next, there_next = ask(client), ask(there)
    for batch in (here_next, there_next):
        del batch["seconds"], batch["created_at"], batch["basis_seq"]  # the import is an event, too
    assert there_next == here_next
    assert "Traceback" not in fleet.printed() + empty_server.printed()
