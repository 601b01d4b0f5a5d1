"""A later upload to the same study."""

import pytest

from app.domain.errors import InvalidCandidates
from app.services.intake.columns import Declared
from app.services.intake.table import fit_to_columns

FIRST = "key,x,s,y\nA,1,DMF,5\nB,2,THF,6\n"


def test_new_levels_come_after_the_known_ones_and_codes_follow(read, codes):
    study = read(FIRST)
    later = read("y,s,key,x\n7,MeCN,C,3\n8,THF,D,4\n", Declared.from_columns(study.columns))
    extended = fit_to_columns(study.columns, later)
    assert [column.name for column in extended.columns] == ["key", "x", "s", "y"]
    assert extended.columns[2].levels == ("DMF", "THF", "MeCN")
    assert extended.codes.tolist() == [[2], [1]]
    assert extended.numbers.tolist() == [[3.0, 7.0], [4.0, 8.0]]
    assert extended.keys == ["C", "D"]
    assert codes(extended.warnings) == ["new-levels"]


def test_a_text_that_looks_like_a_number_stays_text_in_the_study_s_terms(read):
    study = read(FIRST)
    later = read("key,x,s,y\nC,1,5,5\nD,2,6,6\n", Declared.from_columns(study.columns))
    assert fit_to_columns(study.columns, later).columns[2].levels == ("DMF", "THF", "5", "6")


@pytest.mark.parametrize(
    ("content", "mistake"),
    [
        ("key,x,s\nC,1,DMF\n", ("missing-column", "y")),
        ("x,s,y\n1,DMF,2\n", ("missing-column", "key")),
        ("key,x,s,y,z\nC,1,DMF,5,6\n", ("unknown-column", "z")),
        ("key,x,s,y\nC,1,2,5\n", ("other-kind", "s")),
    ],
)
def test_columns_must_agree_with_the_study(read, content, mistake):
    with pytest.raises(InvalidCandidates) as refused:
        fit_to_columns(read(FIRST).columns, read(content))
    assert [(finding.code, finding.column) for finding in refused.value.findings] == [mistake]
