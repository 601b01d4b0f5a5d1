"""The arrays of an archive: what the columns of the study say they are, and nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from app.arrays import Array
from app.domain.candidates import AttributeArrays, BlockArrays, CandidateBlock, CellValue, Column, KeyArrays
from app.domain.events import EarlierResults
from app.domain.limits import MOST_EARLIER, MOST_EARLIER_RESULTS, is_line, is_name
from app.domain.studies import Direction
from app.services.archives.zip_reading import NPY_HEADER_BYTES, ArchivedArrays, must
from app.services.intake.columns import is_out_of_range, name_flaw, text_flaw
from app.services.intake.limits import IntakeLimits
from app.storage.candidates import BlockContents, name_arrays, name_attribute
from app.storage.packed_strings import unpack_strings

MOST_COUNTS = 4096  # of a fingerprint
REPACKED = "its arrays are not packed as this program packs them"


def check_columns(columns: Sequence[Column], limits: IntakeLimits) -> None:
    """The names, kinds, roles and levels that an upload could have given."""
    names = [column.name for column in columns]
    must(len(set(names)) == len(names) <= limits.columns, "it has too many columns, or two of the same name")
    must(not any(name_flaw(name, limits.name_length) for name in names), "the name of a column cannot be one")
    must(any(column.role == "feature" for column in columns), "no column is a feature")
    keys = [column for column in columns if column.role == "key"]
    must(len(keys) <= 1 and all(column.kind == "text" for column in keys), "it has several columns of keys")
    for column in columns:
        _check_fingerprint(column)
        must(not column.levels or (column.role, column.kind) == ("feature", "text"), "only text features have levels")
        must(len(set(column.levels)) == len(column.levels) <= limits.levels, "the levels of a column cannot be such")
        must(
            all(level.strip() and text_flaw(level, limits) is None for level in column.levels),
            "a text of a column cannot be one",
        )


def check_earlier(earlier: Sequence[EarlierResults]) -> None:
    """Results of other studies as this program copies them."""
    must(len(earlier) <= MOST_EARLIER, "it borrows from too many studies")
    for results in earlier:
        rows = len(results.values)
        lengths = {len(cells) for cells in (*results.numbers.values(), *results.texts.values())}
        must(is_name(results.study) and results.seq >= 1, "no study can have this name")
        must(1 <= rows <= MOST_EARLIER_RESULTS and lengths == {rows}, "the results that it borrows are not whole")
        must(results.direction is not Direction.TARGET, "the results that it borrows have no direction")


def check_block(
    block: CandidateBlock, columns: Sequence[Column], arrays: ArchivedArrays, limits: IntakeLimits
) -> tuple[str, ...] | None:
    """Check every array of a block; its keys, or None if the candidates are numbered.

    No array is unpacked unless the sizes of all are those of such a block. The contents are packed again by the code
    that packs uploads, and must get the same digests.
    """
    must(block.stored_in == "database", "its arrays are not in the archive")
    must(1 <= block.rows <= limits.rows and block.rows * len(columns) <= limits.cells, "it has too many candidates")
    _check_sizes(block, columns, arrays, limits)
    numbers, codes = arrays[block.arrays.numbers], arrays[block.arrays.codes]
    _check_features(numbers, codes, block.rows, [column for column in columns if column.role == "feature"])
    has_keys = any(column.role == "key" for column in columns) or block.arrays.keys is not None
    must(has_keys == (block.arrays.keys is not None), "the keys of its candidates are missing")
    keys = None if block.arrays.keys is None else _keys(block.arrays.keys, block.rows, arrays, limits)
    fingerprints = _fingerprints(block, columns, arrays)
    repacked = name_arrays(BlockContents(numbers, codes, keys, {}, fingerprints))
    must(replace(repacked, attributes=block.arrays.attributes) == block.arrays, REPACKED)
    expenses = _check_attributes(block, columns, arrays, limits)
    _check_expenses(columns, numbers, expenses)
    return keys


def _check_sizes(
    block: CandidateBlock, columns: Sequence[Column], arrays: ArchivedArrays, limits: IntakeLimits
) -> None:
    texts = sum(arrays.size(digest) for digest in _arrays_of_texts(block.arrays))
    must(texts <= limits.text_bytes, "the texts of its candidates take more bytes than this server accepts")
    for digest, numbers in _arrays_of_numbers(block.arrays, columns):
        most_bytes = block.rows * numbers * 8 + NPY_HEADER_BYTES
        must(arrays.size(digest) <= most_bytes, "one of its arrays is larger than its candidates can be")


def _arrays_of_texts(arrays: BlockArrays) -> Iterator[str]:
    """The digests of the arrays whose sizes depend on how long texts are, or on how many there are."""
    if arrays.keys is not None:
        yield arrays.keys.content
    yield from (texts.content for texts in arrays.attributes.values() if texts.content is not None)
    yield from arrays.fingerprints.values()


def _arrays_of_numbers(arrays: BlockArrays, columns: Sequence[Column]) -> Iterator[tuple[str, int]]:
    """The digests of all others, with how many numbers each has at the most for a candidate."""
    features = sum(column.role == "feature" for column in columns)
    yield arrays.numbers, features
    yield arrays.codes, features
    if arrays.keys is not None:
        yield from ((digest, 1) for digest in (arrays.keys.ends, arrays.keys.hashes, arrays.keys.rows))
    for attribute in arrays.attributes.values():
        yield from ((digest, 1) for digest in (attribute.numbers, attribute.ends) if digest is not None)


def _check_fingerprint(column: Column) -> None:
    fingerprint = column.fingerprint
    if fingerprint is not None:
        must((column.role, column.kind) == ("feature", "text"), "only text features are molecules")
        possible = 0 <= fingerprint.radius <= 10 and 1 <= fingerprint.counts <= MOST_COUNTS
        must(possible and is_line(fingerprint.rdkit, 1), "its fingerprints cannot be such")


def _fingerprints(block: CandidateBlock, columns: Sequence[Column], arrays: ArchivedArrays) -> dict[str, Array]:
    """The fingerprints of the molecules: a row of counts for every level."""
    molecules = {column.name: column for column in columns if column.fingerprint is not None}
    must(block.arrays.fingerprints.keys() == molecules.keys(), "its fingerprints are not those of its columns")
    fingerprints = {name: arrays[digest] for name, digest in block.arrays.fingerprints.items()}
    for name, counts in fingerprints.items():
        column = molecules[name]
        expected = (len(column.levels), column.fingerprint.counts if column.fingerprint else 0)
        must((counts.dtype.str, counts.shape) == ("|u1", expected), "its fingerprints have another shape")
    return fingerprints


def _check_features(numbers: Array, codes: Array, rows: int, features: Sequence[Column]) -> None:
    texts = [column for column in features if column.kind == "text"]
    others = [column for column in features if column.kind != "text"]
    must((numbers.dtype.str, codes.dtype.str) == ("<f8", "<i4"), "its arrays have types of their own")
    must((numbers.shape, codes.shape) == ((rows, len(others)), (rows, len(texts))), "its arrays have other shapes")
    must(np.isfinite(numbers).all(), "a feature is not a finite number")
    for position, column in enumerate(others):
        if column.kind == "boolean":
            must(np.isin(numbers[:, position], (0.0, 1.0)).all(), "a boolean is neither true nor false")
    for position, column in enumerate(texts):
        within = (codes[:, position] >= 0) & (codes[:, position] < len(column.levels))
        must(within.all(), "a candidate has a text that its column does not have")


def _check_expenses(columns: Sequence[Column], numbers: Array, attributes: Mapping[str, Sequence[CellValue]]) -> None:
    """What a measurement takes is a number of every candidate, in one column."""
    expenses = [column.expense for column in columns if column.expense is not None]
    must(len(set(expenses)) == len(expenses), "two columns say what a measurement takes")
    features = [column.name for column in columns if column.role == "feature" and column.kind != "text"]
    for column in columns:
        if column.expense is None:
            continue
        must(column.kind == "number" and column.role != "key", "what a measurement takes is no number")
        cells = attributes[column.name] if column.role == "attribute" else numbers[:, features.index(column.name)]
        taken = np.array([np.nan if cell is None else cell for cell in cells], dtype=float)
        must(np.isfinite(taken).all() and not is_out_of_range(taken).any(), "no measurement can take this")


def _keys(stored: KeyArrays, rows: int, arrays: ArchivedArrays, limits: IntakeLimits) -> tuple[str, ...]:
    texts = _texts(arrays[stored.ends], arrays[stored.content], rows)
    keys = tuple(text for text in texts if text is not None and name_flaw(text, limits.key_length) is None)
    must(len(set(keys)) == rows, "the keys of its candidates are not unique, or cannot be keys")
    return keys


def _check_attributes(
    block: CandidateBlock, columns: Sequence[Column], arrays: ArchivedArrays, limits: IntakeLimits
) -> dict[str, Sequence[CellValue]]:
    """Check one attribute after the other; the cells of those that say what a measurement takes."""
    attributes = {column.name: column for column in columns if column.role == "attribute"}
    must(block.arrays.attributes.keys() == attributes.keys(), "its attributes are not those of its columns")
    expenses: dict[str, Sequence[CellValue]] = {}
    for name, column in attributes.items():
        cells = _cells(block.arrays.attributes[name], column.kind, block.rows, arrays, limits)
        must(name_attribute(cells) == block.arrays.attributes[name], REPACKED)
        if column.expense is not None:
            expenses[name] = cells
    return expenses


def _cells(
    stored: AttributeArrays, kind: str, rows: int, arrays: ArchivedArrays, limits: IntakeLimits
) -> list[CellValue]:
    """The cells of one attribute; None where one is missing."""
    if stored.numbers is None:
        must(kind == "text" and stored.ends is not None and stored.content is not None, "an attribute has no cells")
        texts = _texts(arrays[stored.ends or ""], arrays[stored.content or ""], rows)
        must(all(text is None or text_flaw(text, limits) is None for text in texts), "an attribute cannot be such")
        return list(texts)
    numbers = arrays[stored.numbers]
    must(numbers.dtype.str == "<f8" and numbers.shape == (rows,), "an attribute has a shape of its own")
    must(not np.isinf(numbers).any(), "an attribute is not a finite number")
    missing = np.isnan(numbers)
    must(kind != "text" or missing.all(), "a text attribute holds numbers")
    must(kind != "boolean" or np.isin(numbers[~missing], (0.0, 1.0)).all(), "a boolean is neither true nor false")
    return [None if np.isnan(number) else float(number) for number in numbers.tolist()]


def _texts(ends: Array, content: Array, rows: int) -> list[str | None]:
    must((ends.dtype.str, content.dtype.str) == ("<i8", "|u1"), "its texts have types of their own")
    must(ends.shape == (rows,) and content.ndim == 1, "its texts have other shapes")
    rising = bool((np.diff(ends, prepend=0) >= 0).all())
    must(rising and int(ends[-1]) == len(content), "its texts do not follow one another")
    return unpack_strings(ends, content, range(rows))
