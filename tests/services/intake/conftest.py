"""Reads bytes as the service would: through a file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.domain.errors import Finding, InvalidCandidates
from app.services.intake.columns import Declared
from app.services.intake.csv_reading import read_csv
from app.services.intake.limits import IntakeLimits
from app.services.intake.table import CandidateTable


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., CandidateTable]:
    def read(
        content: str | bytes, declared: Declared | None = None, limits: IntakeLimits | None = None
    ) -> CandidateTable:
        path = tmp_path / "upload.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_csv(path, declared, limits)

    return read


@pytest.fixture
def mistakes(read: Callable[..., CandidateTable]) -> Callable[..., list[tuple[str, int | None, str | None]]]:
    """The code, row and column of every finding of a refused CSV file."""

    def mistakes(
        content: str | bytes, declared: Declared | None = None, limits: IntakeLimits | None = None
    ) -> list[tuple[str, int | None, str | None]]:
        with pytest.raises(InvalidCandidates) as refused:
            read(content, declared, limits)
        return [(finding.code, finding.row, finding.column) for finding in refused.value.findings]

    return mistakes


@pytest.fixture
def codes() -> Callable[[tuple[Finding, ...]], list[str]]:
    return lambda findings: [finding.code for finding in findings]
