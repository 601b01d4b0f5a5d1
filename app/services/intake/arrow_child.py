"""The child process that reads one Parquet or Arrow file for the server, and may die over it."""

import resource
import sys
from pathlib import Path

from app.domain.errors import InvalidCandidates
from app.services.intake.arrow_columns import read_columns
from app.services.intake.arrow_exchange import Request, parse_request, save_columns, save_refusal
from app.services.intake.cells import RawColumn
from app.services.intake.findings import Findings


def main() -> None:
    """Read the request from the standard input and leave the answer in its folder."""
    request = parse_request(sys.stdin.read())
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (request.limits.arrow_memory, request.limits.arrow_memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = Path(request.folder)
    try:
        columns = _read(request)
    except InvalidCandidates as refused:
        save_refusal(refused, folder)
    else:
        save_columns(columns, folder)


def _read(request: Request) -> list[RawColumn]:
    findings = Findings()
    columns = read_columns(
        Path(request.path), request.form, request.declared, request.limits, request.first_row, findings
    )
    findings.stop_if_any()
    return columns


if __name__ == "__main__":
    main()
