"""Candidates described as a space of parameters."""

import itertools

import numpy as np
import pytest

from app.domain.candidates import Column
from app.domain.errors import InvalidCandidates
from app.services.intake.limits import IntakeLimits
from app.services.intake.space.reading import read_space

TENTHS = {"low": 0, "high": 1, "step": 0.1}


def mistakes_in(document, limits=None):
    with pytest.raises(InvalidCandidates) as refused:
        read_space(document, limits)
    return [(finding.code, finding.pointer) for finding in refused.value.findings]


def test_a_grid_is_the_full_product_with_the_last_parameter_running_fastest():
    table = read_space(
        {
            "parameters": {
                "t": {"low": 20, "high": 40, "step": 10},
                "s": {"levels": ["DMF", "THF"]},
                "dry": {"boolean": True},
                "c": {"values": [0.2, 0.1]},
            }
        }
    )
    expected = list(itertools.product([20.0, 30.0, 40.0], [0, 1], [0.0, 1.0], [0.2, 0.1]))
    assert table.numbers.tolist() == [[t, dry, c] for t, _, dry, c in expected]
    assert table.codes.tolist() == [[s] for _, s, _, _ in expected]
    assert table.columns[1:3] == (Column("s", "text", "feature", ("DMF", "THF")), Column("dry", "boolean", "feature"))
    assert table.keys is None


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        (TENTHS, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]),
        ({"low": 0.1, "high": 0.35, "step": 0.1}, [0.1, 0.2, 0.3]),
        ({"low": -0.3, "high": 0.3, "count": 7}, [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3]),
        ({"low": 0.001, "high": 1000, "count": 7, "scale": "log"}, [0.001, 0.01, 0.1, 1, 10, 100, 1000]),
        ({"low": 1, "high": 2, "count": 1}, [1]),
        ({"low": 1, "high": 2, "count": 1, "scale": "log"}, [1]),
        ({"low": 3, "high": 3, "step": 1}, [3]),
        ({"low": -1e308, "high": 1e308, "count": 3}, [-1e308, 0, 1e308]),
    ],
)
def test_grids_are_exactly_the_decimals_one_would_write(parameter, values):
    assert read_space({"parameters": {"x": parameter}}).numbers[:, 0].tolist() == values


def test_a_mixture_is_complete_in_spite_of_float_sums():
    table = read_space(
        {
            "parameters": dict.fromkeys("abc", TENTHS),
            "constraints": [{"coefficients": {"a": 1, "b": 1, "c": 1}, "equals": 1}],
        }
    )
    assert len(table) == 66
    assert np.allclose(table.numbers.sum(axis=1), 1)


def test_constraints_and_exclusions_match_a_plain_loop():
    table = read_space(
        {
            "parameters": {
                "t": {"low": 0, "high": 9, "step": 1},
                "s": {"levels": ["A", "B", "C"]},
                "d": {"boolean": True},
            },
            "constraints": [{"coefficients": {"t": 2, "d": -1}, "at_least": 3, "at_most": 15}],
            "exclude": [{"s": "A", "t": {"at_least": 5}}, {"s": ["B", "C"], "d": True}, {"t": 4}],
        }
    )
    expected = [
        (t, s, d)
        for t, s, d in itertools.product(range(10), range(3), range(2))
        if 3 <= 2 * t - d <= 15 and not (s == 0 and t >= 5) and not (s in (1, 2) and d) and t != 4
    ]
    assert [(t, s, d) for (t, d), (s,) in zip(table.numbers.tolist(), table.codes.tolist(), strict=True)] == expected


def test_a_product_too_large_says_how_large_and_what_the_limit_is():
    document = {"parameters": {"a": {"low": 1, "high": 1000, "step": 1}, "b": {"low": 1, "high": 500, "step": 1}}}
    with pytest.raises(InvalidCandidates) as refused:
        read_space(document, IntakeLimits(product=1000))
    assert "500,000 combinations, and at most 1,000 can be listed" in refused.value.findings[0].message
    assert mistakes_in(document, IntakeLimits(rows=1000)) == [("too-many-rows", "/parameters")]


CONTINUOUS = {"a": {"low": 0, "high": 1}, "b": {"low": 0.01, "high": 100, "scale": "log"}, "c": {"levels": ["x", "y"]}}


def test_a_sample_is_distinct_within_the_rules_and_the_same_for_the_same_seed():
    document = {"parameters": CONTINUOUS, "constraints": [{"coefficients": {"a": 1}, "at_most": 0.5}], "sample": 400}
    table, again, other = (read_space({**document, "seed": seed}) for seed in (1, 1, 2))
    assert len(np.unique(np.hstack([table.numbers, table.codes]), axis=0)) == 400
    assert table.numbers[:, 0].max() <= 0.5
    assert 0.4 < (table.numbers[:, 1] < 1).mean() < 0.6
    assert table.numbers.tobytes() == again.numbers.tobytes() != other.numbers.tobytes()


def test_the_sample_of_a_seed_never_changes():
    table = read_space({"parameters": {"a": {"low": 0, "high": 1}, "b": {"low": 1, "high": 9, "step": 1}}, "sample": 2})
    assert table.numbers.tolist() == [[0.6369616873214543, 3.0], [0.04097352393619469, 1.0]]


def test_a_huge_product_can_be_sampled():
    table = read_space({"parameters": {f"p{number}": TENTHS for number in range(30)}, "sample": 1_000})
    assert (table.numbers.shape, table.warnings) == ((1_000, 30), ())


def test_a_small_grid_is_sampled_without_starving_and_never_twice(codes):
    document = {"parameters": dict.fromkeys("abc", TENTHS), "constraints": [{"coefficients": {"a": 1}, "equals": 0.3}]}
    table = read_space({**document, "sample": 100})
    assert len(np.unique(table.numbers, axis=0)) == 100
    assert "fewer-than-asked" in codes(read_space({**document, "sample": 500}).warnings)


def test_a_sample_that_cannot_be_found_says_what_to_relax():
    document = {"parameters": CONTINUOUS, "constraints": [{"coefficients": {"a": 1}, "equals": 0.3}], "sample": 5}
    assert mistakes_in(document, IntakeLimits(draws=100_000)) == [("sample-starved", "/sample")]


def with_parameter(parameter):
    return {"parameters": {"x/y": parameter}}


@pytest.mark.parametrize(
    ("document", "mistake"),
    [
        (None, ("not-an-object", "")),
        ({}, ("missing-member", "")),
        ({"parameters": {}}, ("no-features", "/parameters")),
        ({"parameters": {"x": {"values": [1]}}, "smaple": 3}, ("unknown-member", "/smaple")),
        (with_parameter({}), ("parameter-form", "/parameters/x~1y")),
        (with_parameter({"low": 1, "high": 2}), ("continuous-range", "/parameters/x~1y")),
        (with_parameter({"low": 1}), ("missing-member", "/parameters/x~1y")),
        (with_parameter({"low": 2, "high": 1, "step": 1}), ("range-reversed", "/parameters/x~1y/high")),
        (with_parameter({"low": "1", "high": 2, "step": 1}), ("not-a-number", "/parameters/x~1y/low")),
        (with_parameter({"low": True, "high": 2, "step": 1}), ("not-a-number", "/parameters/x~1y/low")),
        (with_parameter({"low": 1, "high": float("inf"), "step": 1}), ("not-finite", "/parameters/x~1y/high")),
        (with_parameter({"low": 1, "high": 10**400, "step": 1}), ("not-finite", "/parameters/x~1y/high")),
        (with_parameter({"low": 1, "high": 2, "step": 0}), ("step-not-positive", "/parameters/x~1y/step")),
        (with_parameter({"low": 1, "high": 2, "step": 5e-324}), ("axis-too-long", "/parameters/x~1y/step")),
        (with_parameter({"low": 1, "high": 2, "step": 1, "count": 2}), ("parameter-form", "/parameters/x~1y/count")),
        (with_parameter({"low": 1, "high": 2, "count": 0}), ("not-a-whole-number", "/parameters/x~1y/count")),
        (with_parameter({"low": 1, "high": 1, "count": 2}), ("values-repeat", "/parameters/x~1y/count")),
        (
            with_parameter({"low": 0, "high": 1, "count": 2, "scale": "log"}),
            ("range-not-positive", "/parameters/x~1y/low"),
        ),
        (
            with_parameter({"low": 0, "high": 1, "count": 2, "scale": "cubic"}),
            ("unknown-scale", "/parameters/x~1y/scale"),
        ),
        (with_parameter({"values": [1, 1.0]}), ("values-repeat", "/parameters/x~1y")),
        (with_parameter({"values": []}), ("not-a-list", "/parameters/x~1y/values")),
        (with_parameter({"levels": ["a", 1]}), ("not-a-text", "/parameters/x~1y/levels/1")),
        (with_parameter({"levels": ["a", "\ud800"]}), ("broken-text", "/parameters/x~1y/levels/1")),
        (with_parameter({"boolean": False}), ("parameter-form", "/parameters/x~1y/boolean")),
        ({"parameters": {"\ud800": {"values": [1]}}}, ("name-control-character", None)),
        ({**with_parameter({"values": [1]}), "sample": 0}, ("not-a-whole-number", "/sample")),
        ({**with_parameter({"values": [1]}), "seed": -1}, ("not-a-whole-number", "/seed")),
        (
            {**with_parameter({"values": [1]}), "constraints": [{"coefficients": {"z": 1}, "equals": 1}]},
            ("unknown-parameter", "/constraints/0/coefficients/z"),
        ),
        (
            {**with_parameter({"values": [1]}), "constraints": [{"coefficients": {"x/y": 1}}]},
            ("bounds", "/constraints/0"),
        ),
        (
            {**with_parameter({"levels": ["a"]}), "constraints": [{"coefficients": {"x/y": 1}, "equals": 1}]},
            ("not-a-number", "/constraints/0/coefficients/x~1y"),
        ),
        ({**with_parameter({"levels": ["a"]}), "exclude": [{"x/y": "b"}]}, ("unknown-level", "/exclude/0/x~1y")),
        ({**with_parameter({"levels": ["a"]}), "exclude": [{}]}, ("conditions", "/exclude/0")),
        ({**with_parameter({"values": [1]}), "exclude": [{"x/y": 1}]}, ("no-candidates", "")),
    ],
)
def test_every_mistake_is_named_by_its_pointer(document, mistake):
    assert mistakes_in(document) == [mistake]


def test_mistakes_of_several_parameters_are_told_at_once():
    assert mistakes_in({"parameters": {"a": {}, "b": {"values": 1}}}) == [
        ("parameter-form", "/parameters/a"),
        ("not-a-list", "/parameters/b/values"),
    ]


@pytest.mark.parametrize(
    ("name", "hint"), [("temprature", "Did you mean `temperature`?"), ("z", "Use one of: `temperature`, `time`.")]
)
def test_an_unknown_parameter_is_answered_with_those_that_there_are(name, hint):
    parameters = {"temperature": {"values": [1, 2]}, "time": {"values": [1, 2]}}
    document = {"parameters": parameters, "constraints": [{"coefficients": {name: 1}, "at_most": 1}]}
    with pytest.raises(InvalidCandidates) as refused:
        read_space(document)
    assert [finding.message for finding in refused.value.findings] == [
        f"The space has no parameter of this name. {hint}"
    ]
