"""Decides what a column of texts is, when nobody declared it."""

import numpy as np

from app.domain.candidates import Kind
from app.services.intake.cells import Texts
from app.services.intake.findings import Findings
from app.services.intake.looks import Looks, look

_NUMBERS_WITH_TYPOS = 0.9
"""Above this share of numbers, what does not parse is taken for a typing error and not for text."""


def infer_kind(texts: Texts, name: str, findings: Findings) -> Kind:
    """Boolean if every cell is one, number if (nearly) every cell is meant as one, else text.

    A column of text with some numbers in it is legitimate (grades, codes), but worth a warning.
    """
    seen = _looks_in_rows(texts)
    present = len(texts.codes) - seen[Looks.MISSING]
    meant_as_numbers = seen[Looks.NUMBER] + seen[Looks.NOT_FINITE] + seen[Looks.DECIMAL_COMMA]
    if present and seen[Looks.BOOLEAN] == present:
        return "boolean"
    if meant_as_numbers > _NUMBERS_WITH_TYPOS * present:
        return "number"
    if meant_as_numbers:
        findings.warning(
            "mixed-types",
            f"{meant_as_numbers} of {present} cells look like numbers; the column is taken as text",
            column=name,
        )
    return "text"


def _looks_in_rows(texts: Texts) -> list[int]:
    looks = np.array([look(level) for level in texts.levels], dtype=np.int64)
    rows: list[int] = np.bincount(looks, weights=texts.counts(), minlength=len(Looks)).astype(np.int64).tolist()
    return rows
