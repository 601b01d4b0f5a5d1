"""The header of a sheet: which column holds what, however people spell it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property

from app.domain.candidates import Column
from app.domain.errors import Finding, Invalid
from app.domain.limits import MOST_SHEET_COLUMNS
from app.domain.quantities import SHEET_COLUMNS
from app.domain.studies import Objective, Study
from app.services.intake.measured_values import same_unit

_WITH_UNIT = re.compile(r"(.*?)\s*[(\[]\s*(.*?)\s*[)\]]")


VALUE, STD = "#", "±"
"""Before the name of a quantity: the place of its values, and of their standard errors."""
ALMOST = "?"
"""Before the name of a column that is almost one of ours: to leave it out could lose results."""
_SIMILAR = 0.8


@dataclass(frozen=True)
class SheetShape:
    """What a study's sheets hold: the measured quantities, the study's own columns, and the lab's names of columns."""

    quantities: tuple[Objective, ...] = (Objective(),)
    columns: tuple[Column, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)  # the lab's header → ours

    @classmethod
    def of(cls, study: Study, renamed: Mapping[str, str]) -> "SheetShape":
        return cls(study.configuration.quantities, study.columns, renamed)

    def column_of(self, quantity: Objective) -> str:
        """How messages call the column of a quantity's values."""
        return "value" if len(self.quantities) == 1 else quantity.name

    def places(self, header: Sequence[str]) -> list[str | None]:
        """What each column holds: a reserved name, `=` and the name of a column of the study, `#` or `±` and the name
        of a quantity, `?` and the header if it is almost one of those; None for anything else."""
        if len(header) > MOST_SHEET_COLUMNS:
            message = (
                f"The header has more than {MOST_SHEET_COLUMNS:,} columns. Delete those that the study does not have."
            )
            raise Invalid([Finding("sheet-too-large", message, row=1)])
        self._check_renamed(header)
        places = [self._place(name) for name in header]
        known = Counter(place for place in places if place is not None)
        for place in sorted(place for place, times in known.items() if times > 1):
            message = f"Two columns hold `{self._title(place)}`. Delete or rename one of them."
            raise Invalid([Finding("header", message, row=1)])
        if not any(place.startswith(VALUE) for place in known) or not {"suggestion", "key"} & known.keys():
            message = (
                f"The first row must name the columns: {self._wanted()}, and `suggestion` or `key`. If"
                " your columns have other names, send `map=their name=our name`. Delete rows above the header; of a"
                " spreadsheet, the first sheet is read."
            )
            raise Invalid([Finding("header", message, row=1)])
        return places

    def misspelt(self, place: str) -> Finding:
        """What to do about a column that is almost one of ours."""
        name = place.removeprefix(ALMOST)
        if self._is_of_no_quantity(name):
            message = f"The column `{name}` does not say what was measured. Name it {self._wanted()}."
            return Finding("header", message, row=1, column=name)
        [meant] = self._similar(name)
        message = (
            f"The column `{name}` would not be read. Did you mean `{meant}`? Rename it; if it is something else, give"
            " it another name or delete it."
        )
        return Finding("header", message, row=1, column=name)

    def _similar(self, name: str) -> list[str]:
        """The column of ours that this name resembles most, if any does."""
        with_unit = _WITH_UNIT.fullmatch(name)
        plain = (with_unit[1] if with_unit else name).casefold()
        ours = {column.casefold(): column for column in sorted(SHEET_COLUMNS)}
        for quantity in self.quantities:
            titles = {quantity.name, *(("value",) if len(self.quantities) == 1 else ())}
            ours |= {title.casefold(): title for title in titles}
        return [ours[close] for close in get_close_matches(plain, ours, 1, _SIMILAR)]

    def _title(self, place: str) -> str:
        name = place.lstrip("=#±?")
        return "value" if place.startswith(VALUE) and len(self.quantities) == 1 else name

    def _wanted(self) -> str:
        if len(self.quantities) == 1:
            return f"`value` (or `{self.quantities[0].name}`)"
        return " or ".join(f"`{quantity.name}`" for quantity in self.quantities)

    def _check_renamed(self, header: Sequence[str]) -> None:
        for theirs, ours in self.renamed.items():
            if theirs not in header:
                raise Invalid([Finding("map", "A column in `map` is not in the header. Check its spelling.", row=1)])
            if self._place_of_ours(ours) is None:
                ours_are = SHEET_COLUMNS | {self.column_of(quantity) for quantity in self.quantities}
                message = f"`map` needs one of our columns after the last `=`: {', '.join(sorted(ours_are))}."
                raise Invalid([Finding("map", message)])

    def _place(self, name: str) -> str | None:
        place = self._place_of_ours(self.renamed.get(name, name))
        unclear = place is None and (self._is_of_no_quantity(name) or self._similar(name))
        return ALMOST + name if unclear else place

    def _is_of_no_quantity(self, name: str) -> bool:
        """Whether a column has values, but does not say of which of several quantities."""
        with_unit = _WITH_UNIT.fullmatch(name)
        plain = (with_unit[1] if with_unit else name).casefold()
        return len(self.quantities) > 1 and plain in ("value", "std")

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
        if folded in SHEET_COLUMNS:
            return "key" if folded == "candidate" else folded
        if name in self._own and not self._is_measured(folded):
            return self._own[name]
        return self._measured(name) or self._own_folded.get(folded)

    def _is_measured(self, folded: str) -> bool:
        """Whether a column of the study must make way: for `value`, or for one of several quantities."""
        if len(self.quantities) == 1:
            return folded == "value"
        return any(quantity.name.casefold() == folded for quantity in self.quantities)

    def _measured(self, name: str) -> str | None:
        """The place of a quantity under its name, its name and unit, or its name and `std`."""
        with_unit = _WITH_UNIT.fullmatch(name)
        for quantity in self.quantities:
            titles = {quantity.name.casefold()} | ({"value"} if len(self.quantities) == 1 else set())
            if name.casefold() in titles:
                return VALUE + quantity.name
            if name.casefold() in {f"{title} std" for title in titles} | ({"std"} if "value" in titles else set()):
                return STD + quantity.name
            if with_unit and with_unit[1].casefold() in titles:
                return self._value_in(with_unit[2], quantity)
        return None

    def _value_in(self, unit: str, quantity: Objective) -> str:
        if same_unit(unit, quantity.unit):
            return VALUE + quantity.name
        measured = f"in {quantity.unit}" if quantity.unit else "without a unit"
        message = f"The header names another unit, but this study measures {measured}. Convert the values."
        raise Invalid([Finding("unit", message, row=1)])
