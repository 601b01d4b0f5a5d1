"""A made-up reaction screen: what can be tried, and the yield that comes out, with noise.

The yield is a product of how good each choice is, with two interactions that make it worth searching: every ligand has
its own best temperature, and strong bases do not tolerate protic solvents.
"""

import math
import random
from dataclasses import dataclass
from itertools import product
from typing import Any

NOISE = 1.5  # per cent of yield, the standard deviation of one measurement

# ligand: activity, best temperature in °C
LIGANDS = {
    "XPhos": (0.93, 90.0),
    "SPhos": (0.97, 75.0),
    "RuPhos": (0.88, 100.0),
    "dppf": (0.72, 85.0),
    "PPh3": (0.55, 70.0),
    "PCy3": (0.80, 60.0),
}
# base: how well it works, how strong it is
BASES = {"K3PO4": (1.0, 0.4), "K2CO3": (0.85, 0.3), "Cs2CO3": (0.95, 0.5), "NaOtBu": (0.9, 1.0)}
# solvent: how well it dissolves, how protic it is
SOLVENTS = {"dioxane": (0.95, 0.0), "toluene": (0.85, 0.0), "DMF": (0.8, 0.1), "THF": (0.88, 0.0), "tBuOH": (1.0, 0.6)}
# ligand: EUR for one reaction
PRICES = {"XPhos": 4.1, "SPhos": 5.2, "RuPhos": 4.6, "dppf": 1.9, "PPh3": 0.2, "PCy3": 2.7}
TEMPERATURES = (50, 60, 70, 80, 90, 100)
CONCENTRATIONS = (0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Reaction:
    """The truth, which the study does not know."""

    seed: int = 0

    def candidates(self) -> list[dict[str, Any]]:
        """Every combination, with keys as a lab would number them."""
        combinations = product(LIGANDS, BASES, SOLVENTS, TEMPERATURES, CONCENTRATIONS)
        names = ("ligand", "base", "solvent", "temperature", "concentration")
        return [
            {"key": f"RX-{number:04d}", **dict(zip(names, combination, strict=True))}
            for number, combination in enumerate(combinations, start=1)
        ]

    def measure(self, candidate: Any, repeat: int = 1) -> float:
        """One measured yield in per cent; the same repeat of the same candidate gives the same value."""
        noise = random.Random(f"{self.seed} {candidate['ligand']} {self._conditions(candidate)} {repeat}")  # noqa: S311
        return round(min(100.0, max(0.0, self.truth(candidate) + noise.gauss(0.0, NOISE))), 2)

    def truth(self, candidate: Any) -> float:
        """The yield without noise."""
        activity, best_temperature = LIGANDS[candidate["ligand"]]
        works, strength = BASES[candidate["base"]]
        dissolves, protic = SOLVENTS[candidate["solvent"]]
        warm = math.exp(-(((candidate["temperature"] - best_temperature) / 28.0) ** 2))
        dense = 1.0 - 0.25 * abs(math.log2(candidate["concentration"] / 0.1))
        return 100.0 * activity * works * dissolves * warm * dense * (1.0 - strength * protic)

    def price(self, candidate: Any) -> float:
        """EUR for one reaction: the ligand, by how much of it is needed, and the heat."""
        price = PRICES[candidate["ligand"]] * float(candidate["concentration"]) * 10
        return round(price + float(candidate["temperature"]) / 100, 2)

    def best(self) -> dict[str, Any]:
        return max(self.candidates(), key=self.truth)

    def _conditions(self, candidate: Any) -> str:
        temperature, concentration = float(candidate["temperature"]), float(candidate["concentration"])
        return f"{temperature} {concentration} {candidate['base']} {candidate['solvent']}"
