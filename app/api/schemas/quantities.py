"""What is measured, on the wire: objectives, constraints, and the model of each if the study fixes one."""

from typing import Annotated, Any, Literal

from pydantic import Field

from app.api.schemas.shape import Line, Request

Positive = Annotated[float, Field(gt=0)]


class TheorySettings(Request):
    """A model that you fix, for the paper's guarantees; without it one is fitted to the results (auto mode)."""

    kernel: dict[str, Any] = Field(
        default={"kind": "gaussian", "lengthscale": 1.0},
        description="The kernel. Before it, features are scaled to [0, 1] and texts are one-hot encoded.",
        examples=[{"kind": "matern", "nu": 2.5, "lengthscale": 0.5}],
    )
    noise: Positive = Field(default=0.1, description="ξ: standard deviation of one measurement, in your unit.")
    regularization: Positive | None = Field(default=None, description="λ; by default the variance of the noise.")
    norm: Positive = Field(default=1.0, description="F: a bound on the objective's norm, in your unit.")
    delta: Annotated[float, Field(gt=0, lt=1)] = Field(default=0.05, description="How often the bounds may fail.")
    q_bar: Positive | None = Field(default=2.0, description="q̄: dictionary oversampling; null for the theory's.")
    threshold: Annotated[float, Field(ge=1)] = Field(default=2.0, description="C̃: how far a batch may drift.")
    rule: Literal["global", "local", "exact", "product", "sequential"] | None = Field(
        default=None, description="When a batch ends; by default the algorithm's own rule."
    )
    confidence: Literal["sharp", "tight", "paper"] = Field(
        default="sharp",
        description="The bounds: sharp holds with any q̄; tight and paper are the paper's, which need the theory's q̄.",
    )
    offset: float = Field(default=0.0, description="The model sees (value − offset) / scale.")
    scale: Positive = Field(default=1.0, description="The model sees (value − offset) / scale.")


class LimitsSettings(Request):
    """The values that a quantity can have at all. Values outside are refused unless they are confirmed."""

    low: float | None = Field(default=None, examples=[0])
    high: float | None = Field(default=None, examples=[100])


class ObjectiveSettings(Request):
    """A quantity to make large or small, or to bring near a target."""

    name: Line = Field(min_length=1, examples=["yield"])
    unit: Line = Field(default="", examples=["%"])
    direction: Literal["maximize", "minimize", "target"]
    limits: LimitsSettings | None = None
    target: float | None = Field(default=None, description='With the direction "target": the best value.')
    theory: TheorySettings | None = Field(default=None, description="Its own model, if the study fixes one.")


class ConstraintSettings(Request):
    """A quantity that must be good enough. If it is no objective, it is measured for this alone."""

    name: Line = Field(min_length=1, examples=["purity"])
    at_least: float | None = Field(default=None, examples=[95])
    at_most: float | None = None
    unit: Line = ""
    limits: LimitsSettings | None = None
    theory: TheorySettings | None = Field(default=None, description="Its own model, if the study fixes one.")
