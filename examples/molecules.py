"""Molecules from SMILES: which ester smells longest? The model compares structures, so it learns across them."""

from nextbatch import Client

ACIDS = {"acetate": "CC(=O)O", "propionate": "CCC(=O)O", "butyrate": "CCCC(=O)O", "benzoate": "c1ccccc1C(=O)O"}
ALCOHOLS = {"methyl": "C", "ethyl": "CC", "propyl": "CCC", "isopropyl": "C(C)C", "butyl": "CCCC", "benzyl": "Cc1ccccc1"}


def measure(smiles: str) -> float:
    """Hours on paper: heavier is longer, rings are longer still; too heavy smells of nothing."""
    carbons = smiles.upper().count("C")
    return round(24 - (carbons - 9) ** 2 / 4 + 3 * smiles.count("c1ccccc1"), 2)


def main() -> None:
    client = Client()
    study = client.create_study("esters-example", objective="persistence", unit="h", repeats="never")
    structures = {
        f"{alcohol} {acid}": ACIDS[acid] + ALCOHOLS[alcohol]  # the acid's last oxygen carries the alcohol's chain
        for acid in ACIDS
        for alcohol in ALCOHOLS
    }
    study.upload([{"key": name, "ester": smiles} for name, smiles in structures.items()], smiles=["ester"])
    for _ in range(3):
        for suggestion in study.ask(worker="bench-1", min_size=4, max_size=4):
            suggestion.report(measure(structures[suggestion.key]))
    print(study.best())
    print(study.certificate().words)


if __name__ == "__main__":
    main()
