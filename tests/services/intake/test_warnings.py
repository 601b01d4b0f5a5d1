"""What is worth a warning in a valid table."""

import numpy as np

from app.services.intake.warnings import _row_hashes


def test_a_constant_feature_is_noted_by_name(read):
    warnings = read("x,c,t\n1,5,a\n2,5,a\n").warnings
    assert [(warning.code, warning.column) for warning in warnings] == [
        ("constant-feature", "c"),
        ("constant-feature", "t"),
    ]


def test_one_candidate_alone_is_not_constant(read):
    assert read("x\n1\n").warnings == ()


def test_repeated_features_are_counted_and_the_first_is_named(read):
    (warning,) = read("x,s\n1,a\n0,b\n1,a\n-0.0,b\n1,b\n1,a\n").warnings
    assert (warning.code, warning.row) == ("repeated-features", 4)
    assert warning.message.startswith("3 rows repeat the features of an earlier row.")
    assert "row 4, which repeats row 2." in warning.message


def test_rows_that_share_their_cells_in_another_order_do_not_repeat(read, codes):
    assert codes(read("x,y\n1,2\n2,1\n").warnings) == []


def test_row_hashes_of_a_large_grid_do_not_collide():
    axis = np.arange(300, dtype="<f8")
    numbers = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    assert len(np.unique(_row_hashes(numbers, np.empty((len(numbers), 0), dtype="<i4")))) == 90_000


def test_a_text_with_a_level_for_nearly_every_row_looks_like_an_identifier(read, codes):
    rows = "".join(f"name-{number},{number}\n" for number in range(60))
    assert codes(read(f"who,x\n{rows}").warnings) == ["looks-like-identifier"]


def test_an_extreme_number_is_noted(read, codes):
    assert codes(read("x\n1e300\n1\n").warnings) == ["extreme-number"]
