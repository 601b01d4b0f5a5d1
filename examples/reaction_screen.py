"""A reaction screen: 96 recipes, plates of eight, until the advice is to stop."""

from nextbatch import Client

PLATES = 5
SOLVENTS = {"DMF": 8, "THF": 2, "toluene": -6, "MeCN": 4}
BASES = {"K3PO4": 6, "K2CO3": 2, "Et3N": -8, "DBU": 0}


def measure(solvent: str, base: str, temperature: float) -> float:
    """The yield in per cent that a chemist would find."""
    return round(max(0.0, 70 + SOLVENTS[solvent] + BASES[base] - (temperature - 85) ** 2 / 40), 1)


def main() -> None:
    client = Client()
    study = client.create_study(
        "reaction-screen",
        description="Which solvent, base and temperature give the most product?",
        objective="yield",
        unit="%",
        limits={"low": 0, "high": 100},
        repeats="never",
    )
    temperatures = {"low": 40, "high": 115, "step": 15}
    study.upload(
        parameters={"solvent": {"levels": [*SOLVENTS]}, "base": {"levels": [*BASES]}, "temperature": temperatures}
    )
    for _ in range(PLATES):
        batch = study.ask(worker="bench-1", min_size=8, max_size=8)
        for suggestion in batch:
            suggestion.report(measure(suggestion["solvent"], suggestion["base"], suggestion["temperature"]))
        verdict = study.certificate()
        print(f"Batch {batch.number}: {study.best()}. {verdict.words}")
        if verdict.advice and verdict.advice.do == "stop":
            print("Stop:", verdict.advice.why)
            break


if __name__ == "__main__":
    main()
