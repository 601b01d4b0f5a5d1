"""The ten lines of use in the head of the package run as they stand."""

import textwrap

import numpy as np
import pytest

from app import engine


def test_the_documented_lines_of_use_run(capsys: pytest.CaptureFixture[str]) -> None:
    lines = (engine.__doc__ or "").split("Use:\n\n")[1].split("\n\n")[0]
    assert len(lines.splitlines()) == 10
    X = np.linspace(0, 1, 50)[:, None]
    exec(textwrap.dedent(lines), {"X": X, "f": lambda x: float(np.sin(3 * X[x, 0]))})  # noqa: S102
    best = int(capsys.readouterr().out.split("highest lower bound:")[1])
    assert abs(X[best, 0] - np.pi / 6) < 0.1


def test_everything_public_is_there() -> None:
    assert sorted(engine.__all__) == sorted(set(engine.__all__))
    assert all(getattr(engine, name).__doc__ for name in engine.__all__ if name not in ("ALGORITHMS", "Choose"))
