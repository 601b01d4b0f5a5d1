"""Sheets: a batch as a table to print and fill in, with what was reported so far."""

from collections.abc import Iterator, Mapping

from app.domain.batches import SuggestionId
from app.domain.candidates import CellValue
from app.domain.observations import Observation
from app.services.use_cases.batches import BatchDetails

FILLED_IN = ("value", "failed", "note", "measured_by", "measured_at", "ref")
RESERVED = frozenset({"suggestion", "replicate", "key", "candidate", "abandoned", *FILLED_IN})
"""Columns that a sheet has a use for. A study's own column of such a name is not shown in it."""


def sheet_of(
    details: BatchDetails, results: Mapping[tuple[SuggestionId, int], Observation]
) -> tuple[list[str], Iterator[list[CellValue]]]:
    """One row per requested measurement; the columns to fill in come last and show what was reported."""
    candidates = details.bench.candidates
    first = next(iter(candidates.values()))
    shown = [name for name in (*first.attributes, *first.features) if name.casefold() not in RESERVED]
    header = ["suggestion", "replicate", "key", *shown, *FILLED_IN]

    def rows() -> Iterator[list[CellValue]]:
        for suggestion in details.bench.suggestions:
            candidate = candidates[suggestion.candidate]
            values = {**candidate.attributes, **candidate.features}
            cells = [values[name] for name in shown]
            for replicate in range(1, suggestion.replicates + 1):
                reported = _reported(details, results.get((suggestion.id, replicate)))
                yield [str(suggestion.id), replicate, candidate.key, *cells, *reported]

    return header, rows()


def _reported(details: BatchDetails, result: Observation | None) -> list[CellValue]:
    """The cells to fill in: empty, or as they were reported."""
    if result is None:
        return [None] * len(FILLED_IN)
    value = result.values[details.study.configuration.objective.name].value
    return [value, None, result.note, result.measured_by, result.measured_at, result.ref]
