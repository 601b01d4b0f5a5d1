"""The ten lines of use in the head of the package run as they stand."""

import textwrap

import numpy as np
import pytest

import app.engine as engine
from app.engine.kernels import Gaussian


def test_the_documented_lines_of_use_run(capsys: pytest.CaptureFixture[str]) -> None:
    lines = (engine.__doc__ or "").split("Use:\n\n")[1].split("\n\n")[0]
    assert len(lines.splitlines()) == 10
    X = np.linspace(0, 1, 50)[:, None]
    names = {name: getattr(engine, name) for name in engine.__all__}
    exec(textwrap.dedent(lines), {**names, "Gaussian": Gaussian, "X": X, "f": lambda x: float(np.sin(3 * X[x, 0]))})  # noqa: S102
    recommended = int(capsys.readouterr().out.split()[0])
    assert abs(X[recommended, 0] - np.pi / 6) < 0.1
