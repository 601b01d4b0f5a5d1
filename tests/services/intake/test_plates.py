"""Sheets for plates: every measurement has its well, in an order that saves changeovers."""

import pytest

from app.domain.errors import Invalid
from app.services.intake.plates import SheetLayout

HEADER = ["suggestion", "temperature"]


def wells(rows: int, columns: int, measurements: int) -> list[object]:
    _, laid_out = SheetLayout(rows=rows, columns=columns).of(HEADER, [[f"S{n}", n] for n in range(measurements)])
    return [cells[0] for cells in laid_out]


def test_wells_are_filled_row_by_row() -> None:
    assert wells(2, 3, 5) == ["A1", "A2", "A3", "B1", "B2"]


def test_after_row_z_comes_aa() -> None:
    assert wells(54, 1, 54)[24:29] == ["Y1", "Z1", "AA1", "AB1", "AC1"]
    assert wells(54, 1, 54)[51:] == ["AZ1", "BA1", "BB1"]


def test_a_plate_with_as_many_wells_as_measurements_is_large_enough() -> None:
    assert len(wells(2, 3, 6)) == 6
    with pytest.raises(Invalid):
        wells(2, 3, 7)


def test_a_list_with_a_column_of_wells_keeps_it() -> None:
    header, _ = SheetLayout(rows=1, columns=1).of([*HEADER, "Well"], [])
    assert header == ["plate well", *HEADER, "Well"]
    assert SheetLayout(rows=1, columns=1).of(HEADER, [])[0] == ["well", *HEADER]


def test_numbers_come_before_texts_and_missing_values_last() -> None:
    rows = [["S1", None], ["S2", "b"], ["S3", 10], ["S4", 9.5], ["S5", "a"]]
    header, ordered = SheetLayout(order_by="temperature").of(HEADER, rows)
    assert header == HEADER
    assert [cells[0] for cells in ordered] == ["S4", "S3", "S5", "S2", "S1"]
    with pytest.raises(Invalid):
        SheetLayout(order_by="pressure").of(HEADER, rows)
