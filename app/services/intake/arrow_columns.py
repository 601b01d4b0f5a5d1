"""The columns of a Parquet or Arrow file as polars reads them; import it only where polars is installed."""

from pathlib import Path

import numpy as np
import polars as pl

from app.services.intake.build import check_size
from app.services.intake.cells import MISSING, Floats, Numbers, RawColumn, encode
from app.services.intake.declared import Declared
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import Limits
from app.services.intake.names import check_names

_EXACT_INTEGERS = 1 << 53


def read_columns(
    path: Path, form: str, declared: Declared, limits: Limits, first_row: int, findings: Findings
) -> list[RawColumn]:
    """Every column of the file; what cannot be a column of candidates is noted."""
    try:
        frame = _frame(path, form, limits, findings)
        return [_column(series, declared, first_row, findings) for series in frame.get_columns()]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise refuse(f"broken-{form}", f"not a readable {form} file; write it again") from None


def _frame(path: Path, form: str, limits: Limits, findings: Findings) -> pl.DataFrame:
    """The file read as a whole, after its size was checked without reading the cells."""
    lazy = pl.scan_parquet(path, glob=False) if form == "parquet" else pl.scan_ipc(path, glob=False)
    names = lazy.collect_schema().names()
    check_names(names, limits, findings)
    findings.stop_if_any()
    check_size(int(lazy.select(pl.len()).collect().item()), len(names), limits)
    return lazy.collect()


def _column(series: pl.Series, declared: Declared, first_row: int, findings: Findings) -> RawColumn:
    name, dtype = series.name, series.dtype
    as_text = declared.kinds.get(name) == "text" or declared.role(name) == "key"
    if dtype.is_numeric() and not (dtype.is_integer() and as_text):
        return RawColumn(name, Numbers(_floats(series, first_row, findings)))
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Unknown):
        message = "only numbers, booleans, texts and times are read; convert the column"
        findings.error("column-type", message, column=name)
        return RawColumn(name, encode([]))
    return RawColumn(name, encode(_written(series)), "boolean" if dtype == pl.Boolean else "text")


def _written(series: pl.Series) -> list[str]:
    return series.cast(pl.String).fill_null(MISSING).to_list()


def _floats(series: pl.Series, first_row: int, findings: Findings) -> Floats:
    """The column as doubles, NaN where missing; what a double cannot hold is an error."""
    floats = series.cast(pl.Float64)
    if series.dtype.is_integer():
        wrong = (floats.abs() >= _EXACT_INTEGERS).fill_null(False)
        flaw = ("not-exact", "an integer of 2^53 or more, which a double rounds; scale it")
    else:
        wrong = ~floats.is_finite().fill_null(True)
        flaw = ("not-finite", "not a finite number; give one, or null in an attribute")
    findings.errors_in_rows(*flaw, np.flatnonzero(wrong.to_numpy()) + first_row, series.name)
    return floats.fill_null(np.nan).to_numpy()
