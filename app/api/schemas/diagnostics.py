"""Diagnostics of a study's model on the wire."""

from pydantic import Field

from app.api.schemas.shape import Shape
from app.domain.diagnoses import LeftOut
from app.domain.predictions import number_in_words
from app.services.workflows.diagnose import StudyDiagnoses


class LeftOutOut(Shape):
    """A measured candidate as all other results predict it."""

    key: str
    candidate: int
    observed: float = Field(description="The average of its results.")
    predicted: float
    lower: float = Field(description="Its average is at least this with 95 % probability, say the other results.")
    upper: float
    deviations: float = Field(description="From predicted to observed, in standard deviations; positive is better.")


class CalibrationPointOut(Shape):
    says: float
    covers: float = Field(description="Share of the results that lie inside the interval that says so.")


class SlicePointOut(Shape):
    value: float | str
    mean: float
    lower: float
    upper: float


class ColumnEffectOut(Shape):
    name: str
    importance: float = Field(
        description="What exchanging the column's values between candidates changes in the predictions: mean squared "
        "change over twice their variance. 0: nothing; 1: the column decides alone."
    )
    lengthscales: dict[str, float] = Field(
        description="Of each level of a text, or of the column: the distance over which results stay alike, where the "
        "column's whole range is 1."
    )
    slice: tuple[SlicePointOut, ...] = Field(
        description="The recommended candidate with other values in this column, with 95 % intervals."
    )


class OutlierOut(Shape):
    key: str
    candidate: int
    deviations: float
    words: str


class DiagnosticsOut(Shape):
    """Empty in theory mode and while nothing is measured."""

    leave_one_out: tuple[LeftOutOut, ...]
    calibration: tuple[CalibrationPointOut, ...]
    columns: tuple[ColumnEffectOut, ...] = Field(description="The most important first.")
    outliers: tuple[OutlierOut, ...] = Field(description="The most surprising first.")


def diagnostics_out(study: StudyDiagnoses) -> DiagnosticsOut:
    diagnoses, keys = study.diagnoses, study.keys
    left_out = {result.candidate: result for result in diagnoses.left_out}
    return DiagnosticsOut(
        leave_one_out=tuple(LeftOutOut(key=keys[result.candidate], **vars(result)) for result in diagnoses.left_out),
        calibration=tuple(CalibrationPointOut.model_validate(point) for point in diagnoses.calibration),
        columns=tuple(ColumnEffectOut.model_validate(effect) for effect in diagnoses.columns),
        outliers=tuple(
            OutlierOut(
                key=keys[outlier.candidate],
                **vars(outlier),
                words=_words(keys[outlier.candidate], left_out[outlier.candidate], study.unit),
            )
            for outlier in diagnoses.outliers
        ),
    )


def _words(key: str, left_out: LeftOut, unit: str) -> str:
    values = (left_out.observed, left_out.predicted)
    observed, predicted = (f"{number_in_words(value)} {unit}".rstrip() for value in values)
    return (
        f"{key} gave {observed}, and the other results say {predicted}: {abs(left_out.deviations):.0f} standard"
        " deviations apart. A typing error?"
    )
