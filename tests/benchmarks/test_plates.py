"""Which column the batches of the plates' benchmark share."""

import numpy as np

from app.engine.auto import FeatureColumn
from benchmarks.labs.tables import Table
from benchmarks.plates import shared_column


def table(*names: str) -> Table:
    """A table whose columns have 4, 5, … values each."""
    numbers = np.column_stack([np.arange(40) % (4 + position) for position, _ in enumerate(names)]).astype(float)
    columns = tuple(FeatureColumn(name, "number") for name in names)
    return Table("t", columns, numbers, np.zeros((40, 0), dtype=np.int32), np.arange(40.0), "maximize")


def test_a_temperature_is_shared_where_there_is_one() -> None:
    shared = shared_column(table("n", "temperature_c", "m"))
    assert shared is not None
    assert (shared[0], len(set(shared[1].tolist()))) == ("temperature_c", 5)


def test_without_one_the_first_suitable_column_is() -> None:
    shared = shared_column(table("n", "m"))
    assert shared is not None
    assert shared[0] == "n"
