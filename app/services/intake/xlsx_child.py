"""The child process that reads one spreadsheet file for the server, and may die doing so.

It runs as `python -m app.services.intake.xlsx_child`; `xlsx` starts it. Standard input has the paths of the file and of
its copy, which gets one row in JSON per line. Standard output has the findings, if the file is refused.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from app.domain.errors import Invalid
from app.services.intake.children import limit
from app.services.intake.xlsx import CHILD_SECONDS, child_memory, read_rows


def main() -> None:
    """Copy the rows of the first sheet."""
    path, copy = map(Path, json.load(sys.stdin))
    limit(child_memory(path), CHILD_SECONDS)
    findings = []
    with copy.open("w", encoding="utf-8") as file:
        try:
            file.writelines(f"{json.dumps(row)}\n" for row in read_rows(path))
        except Invalid as refused:
            findings = [asdict(finding) for finding in refused.findings]
    json.dump(findings, sys.stdout)


if __name__ == "__main__":
    main()
