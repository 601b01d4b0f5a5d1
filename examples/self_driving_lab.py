"""A simulated self-driving lab: three robots share one study. Nobody waits for anybody."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

from nextbatch import Client, Conflict
from nextbatch.batch import Suggestion

ROBOTS = ("north", "east", "west")
ROUNDS = 4
SECONDS = 0.02  # an experiment takes this long, or twice


def measure(suggestion: Suggestion) -> float:
    """The conductivity of one mixture."""
    salt, additive, heat = (float(suggestion[name]) for name in ("salt", "additive", "heat"))
    return 8 + 6 * salt - 2.2 * salt**2 + 1.5 * additive * (1.2 - additive) + heat / 40


def work(robot: str) -> int:
    """Ask, measure, report; break a vial now and then. How many measurements succeeded."""
    chance, done = random.Random(robot), 0
    with Client() as client:
        study = client.study("self-driving-lab")
        for _ in range(ROUNDS):
            try:
                batch = study.ask(worker=robot, min_size=2, max_size=3)
            except Conflict as nothing_left:
                print(f"{robot}: {nothing_left}")
                break
            for suggestion in batch:
                time.sleep(SECONDS * chance.choice((1, 2)))
                if chance.random() < 0.1:
                    suggestion.failed("the vial broke", retry=True)
                    continue
                suggestion.report([measure(suggestion)] * suggestion.replicates)
                done += 1
            print(f"{robot}: batch {batch.number}, {len(batch)} mixtures")
    return done


def main() -> None:
    with Client() as client:
        study = client.create_study("self-driving-lab", objective="conductivity", unit="mS/cm", overdue_hours=2)
        study.upload(
            parameters={
                "salt": {"low": 0.2, "high": 2.4, "step": 0.2},
                "additive": {"low": 0, "high": 1, "step": 0.2},
                "heat": {"low": 20, "high": 60, "step": 20},
            }
        )
        with ThreadPoolExecutor(len(ROBOTS)) as robots:
            measured = sum(robots.map(work, ROBOTS))
        print(f"{measured} measurements by {len(ROBOTS)} robots. {study.best()}")


if __name__ == "__main__":
    main()
