"""Descriptors of levels: joined to every candidate of the level, or refused with the place of the mistake."""

from collections.abc import Callable
from typing import Any

import pytest

from app.domain.errors import InvalidCandidates
from app.services.intake.descriptors import join_descriptors
from app.services.intake.json_reading import read_json_rows

CANDIDATES = [{"key": "A1", "ligand": "XPhos"}, {"key": "A2", "ligand": "PPh3"}, {"key": "A3", "ligand": "XPhos"}]
LIGANDS = [{"ligand": "PPh3", "cone": 145.0, "bulky": False}, {"ligand": "XPhos", "cone": 256.0, "bulky": True}]


def test_every_candidate_gets_the_descriptors_of_its_level() -> None:
    table = read_json_rows(join_descriptors(CANDIDATES, {"ligand": LIGANDS}))
    assert [column.name for column in table.columns] == ["key", "ligand", "cone", "bulky"]
    assert table.numbers.tolist() == [[256, 1], [145, 0], [256, 1]]


def test_columns_of_several_tables_stand_side_by_side() -> None:
    rows: Any = join_descriptors(
        [{"ligand": "L", "solvent": 7}], {"ligand": [{"ligand": "L", "a": 1}], "solvent": [{"solvent": 7, "b": 2}]}
    )
    assert rows == [{"ligand": "L", "solvent": 7, "a": 1, "b": 2}]


def changed(**values: Any) -> list[dict[str, Any]]:
    return [{**LIGANDS[0], **values}, LIGANDS[1]]


@pytest.mark.parametrize(
    ("descriptors", "message"),
    [
        ([], "as an object"),
        ({"ligand": {}}, "as a list of objects"),
        ({"ligand": changed(ligand="SPhos")}, "no descriptors of 'PPh3'"),
        ({"ligand": changed(ligand="XPhos")}, "is there twice"),
        ({"ligand": changed(ligand=None)}, "Name the level"),
        ({"ligand": changed(colour="red")}, "the same descriptors"),
        ({"ligand": [{"ligand": row["ligand"]} for row in LIGANDS]}, "no descriptors of ligand beside"),
        ({"ligand": [{"ligand": row["ligand"], "key": 1} for row in LIGANDS]}, "Rename one of them"),
        ({"colour": [{"colour": "red", "wavelength": 700}]}, "no descriptors of None"),
    ],
)
def test_what_cannot_be_joined_is_refused_with_its_place(descriptors: Any, message: str) -> None:
    with pytest.raises(InvalidCandidates) as refused:
        join_descriptors(CANDIDATES, descriptors)
    assert message in refused.value.findings[0].message


def test_true_is_not_the_level_1() -> None:
    ligands = [{"ligand": 1, "cone angle": 256}]
    assert join_descriptors([{"ligand": 1}], {"ligand": ligands}) == [{"ligand": 1, "cone angle": 256}]
    with pytest.raises(InvalidCandidates) as refused:
        join_descriptors([{"ligand": True}], {"ligand": ligands})
    assert "no descriptors of True" in refused.value.findings[0].message


@pytest.mark.parametrize("candidates", [None, [], ["A1"]])
def test_what_is_no_list_of_candidates_is_left_to_its_reader(candidates: Any) -> None:
    read: Callable[[], Any] = lambda: read_json_rows(join_descriptors(candidates, {"ligand": LIGANDS}))  # noqa: E731
    with pytest.raises(InvalidCandidates):
        read()
