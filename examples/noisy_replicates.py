"""Noisy measurements: every value carries its standard error, and the best few are confirmed before the end."""

import random
from statistics import fmean, stdev

from nextbatch import Client

SPREAD = 6.0  # of one reading
READINGS = 4


def true_strength(wall: float, angle: float) -> float:
    return 50 + 30 * wall - 12 * (wall - 1.6) ** 4 - ((angle - 35) / 8) ** 2


def measure(wall: float, angle: float, chance: random.Random) -> dict[str, float]:
    """The mean of some readings, and its standard error."""
    readings = [chance.gauss(true_strength(wall, angle), SPREAD) for _ in range(READINGS)]
    return {"value": fmean(readings), "std": stdev(readings) / READINGS**0.5}


def main() -> None:
    chance = random.Random(4)
    client = Client()
    study = client.create_study(
        "noisy-replicates",
        objective="strength",
        unit="J",
        stop={"observations": 36},
        confirm=3,
        min_batch=6,
        max_batch=6,
    )
    study.upload(
        parameters={"wall": {"low": 0.4, "high": 2.8, "step": 0.4}, "angle": {"low": 0, "high": 90, "step": 10}}
    )
    while not study.certificate().stop:
        for suggestion in study.ask(worker="rig-1"):
            for _ in range(suggestion.replicates):
                suggestion.report({"strength": measure(suggestion["wall"], suggestion["angle"], chance)})
    verdict = study.certificate()
    print(verdict.words)
    if verdict.certificate:
        chosen = study.candidate(verdict.certificate.key).features
        truth = true_strength(float(chosen["wall"]), float(chosen["angle"]))
        print(f"Recommended: {verdict.certificate.key} {dict(chosen)}, truly {truth:.1f} J.")


if __name__ == "__main__":
    main()
