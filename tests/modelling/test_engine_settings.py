"""What a study's configuration becomes in the engine, and what is refused before anything is stored."""

from dataclasses import replace

import pytest

from app.domain.errors import Invalid
from app.domain.studies import Configuration, Theory
from app.modelling.engine_settings import check_configuration

HANGING = {
    "noise": Theory(noise=1e-155),
    "regularization": Theory(regularization=1e-308),
    "delta": Theory(delta=1e-320),
    "norm": Theory(norm=1e300, noise=1e-20, scale=1e-50),
    "scale": Theory(scale=1e-300),
    "offset": Theory(offset=1e300),
    "threshold": Theory(threshold=1e10),
    "q_bar": Theory(q_bar=1e-300),
}


@pytest.mark.parametrize("name", HANGING)
def test_a_number_with_which_the_engine_cannot_compute_is_refused_by_name_with_its_range(name: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_configuration(Configuration(theory=HANGING[name]))
    finding = next(finding for finding in refused.value.findings if finding.pointer == f"/theory/{name}")
    assert finding.code == "range"
    assert f"`{name}`" in finding.message
    assert "must lie between" in finding.message


def test_noise_counts_in_the_units_of_the_model() -> None:
    check_configuration(Configuration(theory=Theory(noise=1e-80, norm=1e-79, scale=1e-80)))
    with pytest.raises(Invalid) as refused:
        check_configuration(Configuration(theory=Theory(noise=1e300, norm=1e-60, scale=1e-100)))
    assert [finding.pointer for finding in refused.value.findings] == ["/theory/noise"]


def test_a_kernel_outside_its_working_range_is_refused() -> None:
    inner = {"kind": "scaled", "amplitude": 1e300, "part": {"kind": "gaussian", "lengthscale": [1.0, 1e-300]}}
    theory = replace(Theory(), kernel={"kind": "sum", "parts": [inner, {"kind": "linear"}]})
    with pytest.raises(Invalid) as refused:
        check_configuration(Configuration(theory=theory))
    assert [finding.message for finding in refused.value.findings] == [
        "`amplitude` must lie between 1e-100 and 1e+100.",
        "`lengthscale` must lie between 1e-100 and 1e+100.",
    ]


def test_a_kernel_of_very_many_kernels_is_refused() -> None:
    parts = [{"kind": "sum", "parts": [{"kind": "linear"}] * 9}] * 10
    with pytest.raises(Invalid) as refused:
        check_configuration(Configuration(theory=Theory(kernel={"kind": "sum", "parts": parts})))
    assert [finding.message for finding in refused.value.findings] == ["A kernel may consist of at most 100 kernels."]
    check_configuration(Configuration(theory=Theory(kernel={"kind": "sum", "parts": parts[:9]})))


def test_ordinary_theory_is_accepted() -> None:
    check_configuration(Configuration(theory=Theory()))
    check_configuration(Configuration(theory=Theory(noise=1e-21, norm=1e-19, q_bar=None)))
