"""How much an upload may hold, and the refusal of more."""

from dataclasses import dataclass

from app.services.intake.findings import refuse

NO_CANDIDATES = "The list has no candidates. Add at least one row."


@dataclass(frozen=True)
class IntakeLimits:
    """Upper bounds for one candidate table; an error that refuses more states the bound."""

    rows: int = 2_000_000
    columns: int = 10_000
    cells: int = 20_000_000
    levels: int = 10_000
    """Distinct texts of one text feature."""
    cell_length: int = 1_000
    """Characters of one text cell."""
    key_length: int = 200
    name_length: int = 200
    text_bytes: int = 128 * 2**20
    """Bytes of the keys and text attributes of a block in an archive; an upload is bounded by its own bytes."""
    json_rows: int = 10_000
    """Rows of a JSON upload; larger sets are sent as CSV, .npy or Parquet."""
    product: int = 10_000_000
    """Combinations of a parameter grid that are examined, before constraints and exclusions."""
    draws: int = 2_000_000
    """Points drawn to sample a space, before constraints and exclusions."""
    arrow_memory: int = 1 << 30
    """Bytes that the process reading a Parquet or Arrow file may allocate."""
    arrow_seconds: float = 120.0
    """Time that this process may take."""


def check_size(rows: int, columns: int, limits: IntakeLimits) -> None:
    """Refuse a table that is empty or larger than the limits."""
    if not rows:
        raise refuse("no-candidates", NO_CANDIDATES)
    if rows > limits.rows:
        message = f"This server takes at most {limits.rows:,} rows, and the list has more. Leave some out."
        raise refuse("too-many-rows", message)
    if rows * columns > limits.cells:
        message = (
            f"This server takes at most {limits.cells:,} cells, and {rows:,} rows of {columns:,} columns are more."
            " Leave out rows or columns."
        )
        raise refuse("too-many-cells", message)
