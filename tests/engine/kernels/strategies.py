"""Hypothesis strategies for kernels and for the features they meet."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from app.arrays import FloatArray
from app.engine.kernels import Columns, Gaussian, Kernel, Linear, Matern, Polynomial, Product, Scaled, Sum, Tanimoto

D = 4
"""Columns of the generated features."""

positive = st.floats(0.2, 5.0)


def smooth_kernels(d: int = D) -> st.SearchStrategy[Kernel]:
    """Every kernel of real features, and what scaled, columns, sum and product make of them."""
    lengthscales = st.one_of(positive, st.tuples(*[positive] * d))
    simple = st.one_of(
        st.builds(Gaussian, lengthscales),
        st.builds(Matern, lengthscales, st.sampled_from([0.5, 1.5, 2.5])),
        st.just(Linear()),
        st.builds(Polynomial, st.integers(1, 3), positive, positive),
    )
    partial = st.builds(
        Columns,
        st.builds(Matern, st.one_of(positive, st.tuples(positive, positive)), st.just(2.5)),
        st.sampled_from([(0, 2), (3, 1)]),
    )
    return st.recursive(
        st.one_of(simple, partial),
        lambda parts: st.one_of(
            st.builds(Scaled, parts, positive),
            st.builds(Sum, st.tuples(parts, parts)),
            st.builds(Product, st.tuples(parts, parts)),
        ),
        max_leaves=4,
    )


def features(d: int = D, max_rows: int = 6) -> st.SearchStrategy[FloatArray]:
    """Rows of moderate numbers, some of them equal."""
    coordinate = st.one_of(st.sampled_from([0.0, 1.0, -1.0]), st.floats(-3, 3))
    return st.integers(1, max_rows).flatmap(lambda n: arrays.arrays(np.float64, (n, d), elements=coordinate))


def bits(d: int = 12, max_rows: int = 6) -> st.SearchStrategy[FloatArray]:
    """Rows of 0 and 1."""
    return st.integers(1, max_rows).flatmap(
        lambda n: arrays.arrays(np.float64, (n, d), elements=st.sampled_from([0.0, 1.0]))
    )


mixed = Product((Columns(Tanimoto(), (0, 1, 2)), Columns(Matern((0.5, 2.0), 2.5), (3, 4))))
"""Bits times numbers, as a molecule in a solvent would need."""
