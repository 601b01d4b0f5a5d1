"""One BLAS thread for whatever a benchmark measures."""

import scipy.linalg  # noqa: F401  (SciPy's own BLAS, which the engine loads later, and only what is loaded can be limited)
from threadpoolctl import threadpool_limits


def one_blas_thread() -> threadpool_limits:
    """As a context: one thread for NumPy's and SciPy's linear algebra."""
    return threadpool_limits(1)
