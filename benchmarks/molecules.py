"""Lists of molecules as SMILES: regret after 20, 40 and 60 results, beside what was recorded for prepared fingerprints.

    python -m benchmarks.molecules --seeds 20

Beside the SMILES, the same molecules with the bits of their fingerprints as columns, made here. The peers are those of
docs/benchmarks/labs.jsonl: prepared fingerprints as columns, batches of five. Regret is a share of the range; the error
is that of the mean.
"""

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rdkit import Chem
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

from app.arrays import FloatArray
from app.domain.candidates import Column
from app.domain.studies import Configuration, Direction, Objective
from app.modelling.backtesting import losses_of
from app.modelling.simulating import KnownTable, simulate
from app.services.intake.columns import Declared
from app.services.intake.limits import IntakeLimits
from app.services.intake.uploads import Upload
from app.services.workflows.list_backtest import read_known
from benchmarks.transfer.tasks import FOLDER

TABLES = {
    "esol_smiles": ("log_solubility", "esol_ecfp512", 512),
    "freesolv_smiles": ("hydration_free_energy", "freesolv_ecfp1024", 1024),
}
"""The column of results, the table with fingerprints in the labs' records, where both are maximised, and their bits."""
AFTER, BATCH = (20, 40, 60), 5
LABS = Path("docs/benchmarks/labs.jsonl")


def read(folder: Path, name: str, objective: Objective) -> KnownTable:
    """A list as the service reads it, with the fingerprints of its molecules."""
    with TemporaryDirectory() as temporary:
        file = Path(temporary) / "list.csv"
        file.write_bytes(gzip.decompress((folder / f"{name}.csv.gz").read_bytes()))
        upload = Upload("text/csv", file, Declared(kinds={"smiles": "text"}), smiles=("smiles",))
        return read_known(upload, objective.name, IntakeLimits())[0]


def as_columns(table: KnownTable, bits: int) -> KnownTable:
    """The same list with the bits of its fingerprints as columns of 0 and 1."""
    generator = GetMorganGenerator(radius=2, fpSize=bits)
    [molecules] = [column for column in table.columns if column.fingerprint is not None]
    made = np.array([generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(smiles)) for smiles in molecules.levels])
    columns = tuple(Column(f"bit {bit}", "number", "feature") for bit in range(bits))
    position = [column.name for column in table.columns if column.kind == "text"].index(molecules.name)
    numbers = made[table.codes[:, position]].astype(float)
    return KnownTable(columns, numbers, np.empty((len(numbers), 0), dtype="<i4"), table.values, table.ends)


def ours(table: KnownTable, objective: Objective, seeds: int) -> Iterator[FloatArray]:
    """The best so far of each study, as a regret."""
    losses = losses_of(objective, table.means) / np.ptp(table.means)
    for seed in range(seeds):
        measured = simulate(table, Configuration(objectives=(objective,), seed=seed), BATCH, AFTER[-1])
        yield np.minimum.accumulate(losses[measured])


def recorded(table: str) -> dict[str, list[FloatArray]]:
    """What the labs have recorded of a table, by policy."""
    curves: dict[str, list[FloatArray]] = {}
    for line in LABS.read_text().splitlines():
        record = json.loads(line)
        if (record["table"], record["protocol"]) == (table, "T60 q5"):
            curves.setdefault(record["policy"], []).append(np.minimum.accumulate(record["regrets"]))
    return curves


def row(name: str, policy: str, curves: list[FloatArray]) -> str:
    at = np.array([[curve[count - 1] for count in AFTER] for curve in curves])
    errors = at.std(axis=0, ddof=1) / np.sqrt(len(at)) if len(at) > 1 else np.zeros(len(AFTER))
    cells = " | ".join(f"{mean:.3f} ± {error:.3f}" for mean, error in zip(at.mean(axis=0), errors, strict=True))
    return f"| {name} | {policy} | {len(curves)} | {cells} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.molecules", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--direction", choices=("maximize", "minimize"), default="maximize")
    arguments = parser.parse_args()
    print(f"| table | policy | studies | {' | '.join(f'after {count}' for count in AFTER)} |")
    print("|---" * (3 + len(AFTER)) + "|")
    for name in arguments.tables:
        column, prepared, bits = TABLES[name]
        objective = Objective(column, direction=Direction(arguments.direction))
        table = read(arguments.data, name, objective)
        print(row(name, "nextbatch, SMILES", list(ours(table, objective, arguments.seeds))), flush=True)
        found = list(ours(as_columns(table, bits), objective, arguments.seeds))
        print(row(name, f"nextbatch, {bits} bits as columns", found), flush=True)
        for policy, curves in recorded(prepared).items() if arguments.direction == "maximize" else ():
            print(row(prepared, policy, curves), flush=True)


if __name__ == "__main__":
    main()
