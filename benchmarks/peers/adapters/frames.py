"""The list of candidates as a frame, for peers that take one."""

import pandas as pd

from benchmarks.peers.adapters.adapter import Given


def frame(given: Given) -> pd.DataFrame:
    """Its index is the candidate's number."""
    return pd.DataFrame(dict(zip(given.columns, given.values, strict=True)))
