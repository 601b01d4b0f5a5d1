"""BoTorch compiles a part of qLogNEHVI when it is first needed, which takes a minute once for each environment.

A process that ends meanwhile leaves a lock behind, for which all others wait for ever. So each environment has a folder
of its own for what is compiled, and a new process removes the lock.
"""

import os
import sys
from pathlib import Path

COMPILED = Path(sys.prefix) / "extensions"


def compile_afresh() -> None:
    """Call this before the first ask."""
    os.environ["TORCH_EXTENSIONS_DIR"] = str(COMPILED)
    for lock in COMPILED.glob("*/lock"):
        lock.unlink()
