"""The candidate table of a described space."""

import numpy as np

from app.services.intake.build import check_size
from app.services.intake.cells import Floats
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import Limits
from app.services.intake.oddities import note_oddities
from app.services.intake.space.axes import FiniteAxis
from app.services.intake.space.description import Space, read_description
from app.services.intake.space.product import enumerate_points
from app.services.intake.space.sampling import sample_points
from app.services.intake.table import CandidateTable

_FIRST_ROW = 1


def read_space(document: object, limits: Limits | None = None) -> CandidateTable:
    """The candidates that a parsed JSON document describes; raises InvalidCandidates with a pointer to each mistake."""
    limits, findings = limits or Limits(), Findings()
    space = read_description(document, limits)
    check_size(space.sample or 1, len(space.axes), limits)
    points = _points(space, limits, findings)
    if not len(points):
        raise refuse("no-candidates", "no point meets the constraints and exclusions; relax them", pointer="")
    return _table(space, points, findings)


def _points(space: Space, limits: Limits, findings: Findings) -> Floats:
    if space.sample is not None:
        return sample_points(space, space.sample, limits, findings)
    return enumerate_points([axis for axis in space.axes if isinstance(axis, FiniteAxis)], space.rules, limits)


def _table(space: Space, points: Floats, findings: Findings) -> CandidateTable:
    columns = tuple(axis.column for axis in space.axes)
    texts = np.array([column.kind == "text" for column in columns])
    numbers = np.ascontiguousarray(points[:, ~texts])
    codes = np.ascontiguousarray(points[:, texts].astype("<i4"))
    note_oddities(columns, numbers, codes, _FIRST_ROW, findings)
    return CandidateTable(columns, numbers, codes, None, {}, findings.warnings, _FIRST_ROW)
