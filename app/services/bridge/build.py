"""Which program computed a batch: to the last bit, results belong to one build on one kind of machine."""

import platform
from functools import cache
from importlib.metadata import version

import numpy as np
import scipy
from threadpoolctl import threadpool_info


@cache
def build() -> str:
    blas = sorted(
        {f"{lib['internal_api']} {lib['version']} {lib.get('architecture', '')}" for lib in threadpool_info()}
    )
    parts = [
        f"nextbatch-server {version('nextbatch-server')}",
        f"numpy {np.__version__}",
        f"scipy {scipy.__version__}",
        f"python {platform.python_version()}",
        platform.machine(),
        *blas,
    ]
    return "; ".join(part.strip() for part in parts)[:200]
