"""Hatchling calls this before it makes the server's wheel: the page must be built, and is built if it is not.

An editable installation has no copy of the page: `make setup` builds it.
"""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface[Any]):
    """Builds the page from `page/src`; what is up to date is left alone."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  (hatchling's signature)
        if version != "editable":
            builder = runpy.run_path(str(Path(self.root) / "page" / "build.py"))
            builder["build"]()
