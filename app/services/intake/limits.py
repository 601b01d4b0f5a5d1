"""How much an upload may hold."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Upper bounds on one candidate table; each is named in the error that refuses more."""

    rows: int = 2_000_000
    columns: int = 10_000
    cells: int = 100_000_000
    levels: int = 10_000
    """Distinct texts of one text feature."""
    cell_length: int = 1_000
    """Characters of one text cell."""
    key_length: int = 200
    name_length: int = 200
    json_rows: int = 10_000
    """Rows of a JSON upload; larger sets go as CSV, .npy or Parquet."""
    product: int = 10_000_000
    """Combinations of a parameter grid that are looked at, before constraints and exclusions."""
    draws: int = 2_000_000
    """Points drawn while sampling a space, before constraints and exclusions."""
    arrow_memory: int = 4 << 30
    """Bytes that the process reading a Parquet or Arrow file may allocate."""
    arrow_seconds: float = 120.0
    """How long it may take."""
