"""The header of a sheet: which column holds what, however people spell it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.candidates import Column
from app.domain.errors import Finding, Invalid
from app.domain.quantities import SHEET_COLUMNS
from app.domain.studies import Objective, Study
from app.services.intake.measured_values import same_unit

_WITH_UNIT = re.compile(r"(.*?)\s*[(\[]\s*(.*?)\s*[)\]]")


VALUE, STD = "#", "±"
"""Before the name of a quantity: the place of its values, and of their standard errors."""


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
        of a quantity; None for anything else."""
        self._check_renamed(header)
        places = [self._place(name) for name in header]
        known = [place for place in places if place is not None]
        for place in sorted({place for place in known if known.count(place) > 1}):
            message = f"Two columns hold `{self._title(place)}`. Delete or rename one of them."
            raise Invalid([Finding("header", message, row=1)])
        if not any(place.startswith(VALUE) for place in known) or not {"suggestion", "key"} & set(known):
            message = (
                f"The header needs a column {self._wanted()}, and `suggestion` or `key`. If your columns"
                " have other names, send `map=their name=our name`."
            )
            raise Invalid([Finding("header", message, row=1)])
        return places

    def _title(self, place: str) -> str:
        name = place.lstrip("=#±")
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
        return self._place_of_ours(self.renamed.get(name, name))

    def _place_of_ours(self, name: str) -> str | None:
        folded = name.casefold()
        own = {column.name: column for column in self.columns}
        if folded in SHEET_COLUMNS:
            return "key" if folded == "candidate" else folded
        if name in own and not self._is_measured(folded):
            return "key" if own[name].role == "key" else f"={name}"
        return self._measured(name) or self._column(folded)

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

    def _column(self, folded: str) -> str | None:
        for column in self.columns:
            if column.name.casefold() == folded:
                return "key" if column.role == "key" else f"={column.name}"
        return None

    def _value_in(self, unit: str, quantity: Objective) -> str:
        if same_unit(unit, quantity.unit):
            return VALUE + quantity.name
        measured = f"in {quantity.unit}" if quantity.unit else "without a unit"
        message = f"The header names another unit, but this study measures {measured}. Convert the values."
        raise Invalid([Finding("unit", message, row=1)])
