"""The header of a sheet: which column holds what, however people spell it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from app.domain.candidates import Column
from app.domain.errors import Finding, Invalid
from app.domain.limits import MOST_SHEET_COLUMNS
from app.domain.studies import Study
from app.services.intake.measured_values import same_unit
from app.services.intake.sheets import RESERVED

_WITH_UNIT = re.compile(r"(.*?)\s*[(\[]\s*(.*?)\s*[)\]]")


@dataclass(frozen=True)
class SheetShape:
    """What a study's sheets hold: the measured quantity, the study's own columns, and the lab's names of columns."""

    objective: str = "value"
    unit: str | None = None
    columns: tuple[Column, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)  # the lab's header → ours

    @classmethod
    def of(cls, study: Study, renamed: Mapping[str, str]) -> "SheetShape":
        objective = study.configuration.objective
        return cls(objective.name, objective.unit, study.columns, renamed)

    def places(self, header: Sequence[str]) -> list[str | None]:
        """What each column holds: a reserved name, `=` and a name for a column of the study, None for anything else."""
        if len(header) > MOST_SHEET_COLUMNS:
            message = (
                f"The header has more than {MOST_SHEET_COLUMNS:,} columns. Delete those that the study does not have."
            )
            raise Invalid([Finding("sheet-too-large", message, row=1)])
        self._check_renamed(header)
        places = [self._place(name) for name in header]
        known = Counter(place for place in places if place is not None)
        for place in sorted(place for place, times in known.items() if times > 1):
            message = f"Two columns hold `{place.lstrip('=')}`. Delete or rename one of them."
            raise Invalid([Finding("header", message, row=1)])
        if "value" not in known or not {"suggestion", "key"} & known.keys():
            message = (
                f"The first row must name the columns: `value` (or `{self.objective}`), and `suggestion` or `key`. If"
                " your columns have other names, send `map=their name=our name`. Delete rows above the header; of a"
                " spreadsheet, the first sheet is read."
            )
            raise Invalid([Finding("header", message, row=1)])
        return places

    def _check_renamed(self, header: Sequence[str]) -> None:
        for theirs, ours in self.renamed.items():
            if theirs not in header:
                raise Invalid([Finding("map", "A column in `map` is not in the header. Check its spelling.", row=1)])
            if self._place_of_ours(ours) is None:
                message = f"`map` needs one of our columns after the last `=`: {', '.join(sorted(RESERVED))}."
                raise Invalid([Finding("map", message)])

    def _place(self, name: str) -> str | None:
        return self._place_of_ours(self.renamed.get(name, name))

    @cached_property
    def _own(self) -> dict[str, str]:
        """The study's columns, each with what a sheet's column of that name holds."""
        return {column.name: "key" if column.role == "key" else f"={column.name}" for column in self.columns}

    @cached_property
    def _own_folded(self) -> dict[str, str]:
        """As `_own`, by names without case; the first of several counts."""
        return {name.casefold(): place for name, place in reversed(self._own.items())}

    def _place_of_ours(self, name: str) -> str | None:
        folded = name.casefold()
        if folded in RESERVED:
            return "key" if folded == "candidate" else folded
        if name in self._own:
            return self._own[name]
        if folded == self.objective.casefold():
            return "value"
        with_unit = _WITH_UNIT.fullmatch(name)
        if with_unit and with_unit[1].casefold() in ("value", self.objective.casefold()):
            return self._value_in(with_unit[2])
        return self._own_folded.get(folded)

    def _value_in(self, unit: str) -> str:
        if same_unit(unit, self.unit):
            return "value"
        measured = f"in {self.unit}" if self.unit else "without a unit"
        message = f"The header names another unit, but this study measures {measured}. Convert the values."
        raise Invalid([Finding("unit", message, row=1)])
