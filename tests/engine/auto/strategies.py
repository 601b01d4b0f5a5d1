"""Tables with mixed columns, and measurements of them."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from app.arrays import FloatArray
from app.engine.auto import FeatureColumn, LevelCodes

Table = tuple[list[FeatureColumn], FloatArray, LevelCodes]

finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 12) -> Table:
    """Columns in any order, any finite numbers."""
    kinds = draw(st.lists(st.sampled_from(["number", "boolean", "text"]), min_size=1, max_size=6))
    rows = draw(st.integers(1, max_rows))
    columns, numbers, codes = [], [], []
    for i, kind in enumerate(kinds):
        levels = tuple("abcd") if kind == "text" else ()
        columns.append(FeatureColumn(f"column {i}", kind, levels))
        if kind == "text":
            codes.append(draw(arrays.arrays(np.int32, rows, elements=st.integers(0, 3))))
        else:
            elements = finite if kind == "number" else st.sampled_from([0.0, 1.0])
            numbers.append(draw(arrays.arrays(np.float64, rows, elements=elements)))
    return columns, _side_by_side(numbers, rows, np.float64), _side_by_side(codes, rows, np.int32)


def _side_by_side(parts: list[FloatArray], rows: int, dtype: type) -> FloatArray:
    return np.stack(parts, axis=1).astype(dtype) if parts else np.zeros((rows, 0), dtype=dtype)


def values(n: int) -> st.SearchStrategy[FloatArray]:
    """Any n finite values: tiny, huge, offset, constant."""
    offset = st.builds(
        lambda base, parts: base + np.array(parts),
        st.sampled_from([0.0, 1e9, -1e-300, 1e300]),
        st.lists(st.floats(-1, 1), min_size=n, max_size=n),
    )
    constant = finite.map(lambda value: np.full(n, value))
    return st.one_of(arrays.arrays(np.float64, n, elements=finite), offset, constant)
