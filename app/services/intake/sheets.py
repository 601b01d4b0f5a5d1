"""Sheets: a batch as a table to print and fill in, with what was reported so far."""

from collections.abc import Iterator, Mapping

from app.domain.batches import SuggestionId, SuggestionState
from app.domain.candidates import CellValue
from app.domain.observations import Observation
from app.domain.quantities import SHEET_COLUMNS
from app.domain.studies import Configuration
from app.services.use_cases.batches import BatchDetails

REMARKS = ("failed", "note", "measured_by", "measured_at", "ref")
RESERVED = SHEET_COLUMNS | {"value"}
"""Columns that a sheet has a use for. A study's own column of such a name is not shown in it."""


def value_columns(configuration: Configuration) -> tuple[str, ...]:
    """The columns for what was measured: `value`, or the name of each of several quantities."""
    quantities = configuration.quantities
    return ("value",) if len(quantities) == 1 else tuple(quantity.name for quantity in quantities)


def sheet_of(
    details: BatchDetails, results: Mapping[tuple[SuggestionId, int], Observation], *, abandoned: bool = True
) -> tuple[list[str], Iterator[list[CellValue]]]:
    """One row per requested measurement; the columns to fill in come last and show what was reported.

    Without those that were `abandoned`, it has a row for each well: what was swapped makes room for its replacement.
    """
    candidates = details.bench.candidates
    first = next(iter(candidates.values()))
    measured = value_columns(details.study.configuration)
    taken = RESERVED | {name.casefold() for name in measured}
    shown = [name for name in (*first.attributes, *first.features) if name.casefold() not in taken]
    header = ["suggestion", "replicate", "key", *shown, *measured, *REMARKS]

    def rows() -> Iterator[list[CellValue]]:
        for suggestion in details.bench.suggestions:
            if suggestion.state is SuggestionState.ABANDONED and not abandoned:
                continue
            candidate = candidates[suggestion.candidate]
            values = {**candidate.attributes, **candidate.features}
            cells = [values[name] for name in shown]
            for replicate in range(1, suggestion.replicates + 1):
                reported = _reported(details, results.get((suggestion.id, replicate)))
                yield [str(suggestion.id), replicate, candidate.key, *cells, *reported]

    return header, rows()


def _reported(details: BatchDetails, result: Observation | None) -> list[CellValue]:
    """The cells to fill in: empty, or as they were reported."""
    quantities = details.study.configuration.quantities
    if result is None:
        return [None] * (len(quantities) + len(REMARKS))
    found = [result.values.get(quantity.name) for quantity in quantities]
    values = [None if measured is None else measured.value for measured in found]
    return [*values, None, result.note, result.measured_by, result.measured_at, result.ref]
