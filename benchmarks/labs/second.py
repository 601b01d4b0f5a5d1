"""Single objectives of the second collection of tables, written as `load` reads them.

    python -m benchmarks.labs.second FOLDER [SOURCE]

A row whose measurement failed is left out; of columns with the same information, the first is taken.
"""

import csv
import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.objectives.tables import FOLDER

SINGLE = {
    "bicarbonate": ("bicarbonate_electrolyzer", None, "fe_co_pct"),
    "gpu_convolution": ("gpu_convolution_rtx3090", None, "time_ms"),
    "hpo_alexnet": ("hpo_alexnet_imagenet", None, "top1_accuracy"),
    "lnp3": ("lnp3_measured", None, "encapsulation_efficiency"),
    "nas201_latency": ("nas201_cifar100_pi5", None, "latency_ms"),
    "reizman_iv": ("suzuki_reizman_tasks", "suzuki_iv", "yield_pct"),
    "virtual_suzuki_i": ("suzuki_virtual_tasks", "suzuki_i", "yield_pct"),
}
"""Of every table: its file, its task if it has several, and the objective."""

Row = dict[str, str]


def main(folder: Path, source: Path = FOLDER) -> None:
    """Every table as NAME.csv.gz."""
    folder.mkdir(parents=True, exist_ok=True)
    described = list(_read(source / "columns.csv.gz"))
    for name, (file, task, objective) in SINGLE.items():
        columns = [*_features(described, file), objective]
        rows = [row for row in _read(source / f"{file}.csv.gz") if row.get("task") == task and row[objective]]
        with gzip.open(folder / f"{name}.csv.gz", "wt", encoding="utf-8", newline="") as written:
            csv.writer(written).writerows([columns, *([row[column] for column in columns] for row in rows)])
        print(f"{name}: {len(rows)} candidates, {len(columns) - 1} columns")


def _features(described: list[Row], file: str) -> Iterator[str]:
    for row in described:
        if row["file"] == file and row["role"] == "feature" and not row["same_information_as"]:
            yield row["column"]


def _read(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
