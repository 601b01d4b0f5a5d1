"""Turns uploaded bytes into a checked candidate table: a path or parsed JSON in, a frozen value out, no HTTP, no SQL.

Every reader returns a `CandidateTable` or raises `InvalidCandidates`, whose findings name row, column, rule and fix,
and never the value. The way in: a format's own module reads raw columns (`cells`), `columns` gives each a kind and
checks its cells, `build` puts them together, `oddities` adds warnings. Arrays and described spaces skip the first two.
"""

from app.services.intake.arrow import ArrowNotInstalled, read_arrow, read_parquet
from app.services.intake.csv_file import read_csv
from app.services.intake.csv_rows import csv_text
from app.services.intake.declared import Declared, declared_by
from app.services.intake.extend import extend
from app.services.intake.json_rows import read_json_rows
from app.services.intake.key_list import keys_from_json, keys_from_lines
from app.services.intake.limits import Limits
from app.services.intake.npy import read_npy
from app.services.intake.space.table import read_space
from app.services.intake.table import CandidateTable

__all__ = [
    "ArrowNotInstalled",
    "CandidateTable",
    "Declared",
    "Limits",
    "csv_text",
    "declared_by",
    "extend",
    "keys_from_json",
    "keys_from_lines",
    "read_arrow",
    "read_csv",
    "read_json_rows",
    "read_npy",
    "read_parquet",
    "read_space",
]
