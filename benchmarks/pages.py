"""Pages under docs/benchmarks whose tables come from records, so that no figure is copied by hand."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"


def fill(page: Path, tables: Mapping[str, str]) -> None:
    """The page with these tables in their places."""
    page.write_text(filled(page.read_text(), tables))


def filled(text: str, tables: Mapping[str, str]) -> str:
    """The text with every table between `<!-- its name -->` and `<!-- end -->`."""
    for name, table in tables.items():
        text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end -->)", rf"\g<1>\n{table}\n\n\g<2>", text, flags=re.DOTALL)
    return text


def markdown(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """One table."""
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (header, ["---"] * len(header), *rows))
