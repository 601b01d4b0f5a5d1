"""What a fit is: the kernel, the noise and the objective, as plain values that replay to the last bit."""

from dataclasses import dataclass
from typing import Any, Self

from app.engine.auto.objective import Objective
from app.engine.kernels import Kernel, build

VERSION = 1


@dataclass(frozen=True)
class Fit:
    """The model of a study until the next fit."""

    form: str
    """The name of the kernel's form; with `theta` the start of the next fit."""
    theta: tuple[float, ...]
    """Logarithms of the hyperparameters of the form, then log λ."""
    kernel: Kernel
    lam: float
    """λ, the noise variance in model units."""
    objective: Objective
    log_evidence: float
    """log marginal likelihood plus log prior at the optimum."""
    norm: float
    """‖posterior mean‖ in the kernel's space: the estimate of F that the certificate is stated with."""
    observations: int
    """Measurements known when it was made."""
    distinct: int

    def describe(self) -> dict[str, Any]:
        """Plain JSON with a version; `Fit.build` is the inverse."""
        plain = {**self.__dict__, "theta": list(self.theta)}
        return {**plain, "version": VERSION, "kernel": self.kernel.describe(), "objective": self.objective.describe()}

    @classmethod
    def build(cls, description: dict[str, Any]) -> Self:
        """The fit that `describe` wrote."""
        fields = dict(description)
        version = fields.pop("version")
        if version != VERSION:
            raise ValueError(f"this program reads fits of version {VERSION}, not {version}")
        fields["theta"] = tuple(fields["theta"])
        fields["kernel"] = build(fields["kernel"])
        fields["objective"] = Objective.build(fields["objective"])
        return cls(**fields)
