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
    noise: Positive = Field(
        default=0.1, description="ξ: standard deviation of one measurement, in your unit.", examples=[1.5]
    )
    regularization: Positive | None = Field(
        default=None, description="λ; by default the variance of the noise.", examples=[2.25]
    )
    norm: Positive = Field(default=1.0, description="F: a bound on the objective's norm, in your unit.", examples=[50])
    delta: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="How often the bounds may fail.", examples=[0.01]
    )
    q_bar: Positive | None = Field(
        default=2.0, description="q̄: dictionary oversampling; null for the theory's.", examples=[10]
    )
    threshold: Annotated[float, Field(ge=1)] = Field(
        default=2.0, description="C̃: how far a batch may drift.", examples=[1.5]
    )
    rule: Literal["global", "local", "exact", "product", "sequential"] | None = Field(
        default=None, description="When a batch ends; by default the algorithm's own rule.", examples=["global"]
    )
    confidence: Literal["sharp", "tight", "paper"] = Field(
        default="sharp",
        description="The bounds: sharp holds with any q̄; tight and paper are the paper's, which need the theory's q̄.",
    )
    offset: float = Field(default=0.0, description="The model sees (value − offset) / scale.", examples=[50])
    scale: Positive = Field(default=1.0, description="The model sees (value − offset) / scale.", examples=[25])


class LimitsSettings(Request):
    """The values that a quantity can have at all. Values outside are refused unless they are confirmed."""

    low: float | None = Field(default=None, description="No value is below this.", examples=[0])
    high: float | None = Field(default=None, description="No value is above this.", examples=[100])


class ObjectiveSettings(Request):
    """A quantity to make large or small, or to bring near a target."""

    name: Line = Field(min_length=1, description="What it is called in reports and sheets.", examples=["yield"])
    unit: Line = Field(default="", description="Its unit.", examples=["%"])
    direction: Literal["maximize", "minimize", "target"] = Field(description="What is good.")
    limits: LimitsSettings | None = Field(
        default=None, description="The values it can have.", examples=[{"low": 0, "high": 100}]
    )
    target: float | None = Field(
        default=None, description='With the direction "target": the best value.', examples=[7.4]
    )
    theory: TheorySettings | None = Field(
        default=None, description="Its own model, if the study fixes one.", examples=[{"noise": 1.5}]
    )


class ConstraintSettings(Request):
    """A quantity that must be good enough. If it is no objective, it is measured for this alone."""

    name: Line = Field(min_length=1, description="What is measured.", examples=["purity"])
    at_least: float | None = Field(default=None, description="It must not be below this.", examples=[95])
    at_most: float | None = Field(default=None, description="It must not be above this.", examples=[99.5])
    unit: Line = Field(default="", description="Its unit.", examples=["%"])
    limits: LimitsSettings | None = Field(
        default=None, description="The values it can have.", examples=[{"low": 0, "high": 100}]
    )
    theory: TheorySettings | None = Field(
        default=None, description="Its own model, if the study fixes one.", examples=[{"noise": 1.5}]
    )
