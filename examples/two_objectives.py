"""Two objectives: much product for little money, and pure enough to use."""

from nextbatch import Client

CATALYSTS = {"Pd(PPh3)4": (12, 40.0), "Pd(OAc)2": (4, 15.0), "NiCl2": (-6, 3.0)}  # a bonus in yield; EUR per mol-%


def measure(catalyst: str, loading: float, temperature: float) -> dict[str, float]:
    """What the analysis gives for one experiment."""
    bonus, price = CATALYSTS[catalyst]
    reached = 60 + bonus + 6 * loading - (temperature - 80) ** 2 / 50
    return {
        "yield": round(min(max(reached, 0), 100), 1),
        "price": round(price * loading + temperature / 20, 2),
        "purity": round(99 - max(0.0, temperature - 90) / 3 - loading / 2, 1),
    }


def main() -> None:
    client = Client()
    study = client.create_study(
        "two-objectives-example",
        objectives=[
            {"name": "yield", "unit": "%", "direction": "maximize", "limits": {"low": 0, "high": 100}},
            {"name": "price", "unit": "EUR", "direction": "minimize"},
        ],
        constraints=[{"name": "purity", "unit": "%", "at_least": 95}],
        repeats="never",
    )
    study.upload(
        parameters={
            "catalyst": {"levels": [*CATALYSTS]},
            "loading": {"low": 0.5, "high": 5, "step": 0.5},
            "temperature": {"low": 40, "high": 120, "step": 10},
        }
    )
    for _ in range(5):
        for suggestion in study.ask(worker="bench-1", min_size=6, max_size=6):
            suggestion.report(measure(suggestion["catalyst"], suggestion["loading"], suggestion["temperature"]))
    front = study.front()
    print(front)
    for point in sorted(front.measured, key=lambda point: point.values["price"]):
        values = point.values
        print(f"{values['price']:7.2f} EUR: {values['yield']:5.1f} %, purity {values['purity']:.1f} % ({point.key})")


if __name__ == "__main__":
    main()
