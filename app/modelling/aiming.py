"""What a study of several quantities aims at, in the units of its models: objectives, constraints, failures."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from app.arrays import Array, BoolArray, FloatArray, IndexArray
from app.domain.studies import Constraint, Objective
from app.engine.auto import alpha_for
from app.engine.several import Aim, Aims, Bound, QuantityPosterior, chances_of_success
from app.modelling.engine_settings import auto_options
from app.modelling.model import Model
from app.modelling.study_model import SeveralModels


@dataclass(frozen=True, eq=False)
class Aiming:
    """The posteriors of a study's quantities, and the aims that refer to them.

    In auto mode a quantity without a single result has no posterior yet, and is left out until it has one.
    """

    models: SeveralModels

    @cached_property
    def known(self) -> dict[str, Model]:
        in_theory = self.models.ledger.configuration.theory is not None
        return {name: model for name, model in self.models.quantities.items() if in_theory or model.observed.size}

    @cached_property
    def objectives(self) -> list[Objective]:
        configuration = self.models.ledger.configuration
        return [objective for objective in configuration.objectives if objective.name in self.known]

    @cached_property
    def constraints(self) -> list[Constraint]:
        configuration = self.models.ledger.configuration
        return [constraint for constraint in configuration.constraints if constraint.name in self.known]

    @cached_property
    def posteriors(self) -> list[QuantityPosterior]:
        options = auto_options(self.models.ledger.configuration)
        return [
            QuantityPosterior(model.state, None if model.fit is None else alpha_for(model.fit, options))
            for model in self.known.values()
        ]

    @cached_property
    def means(self) -> list[Array]:
        return [model.state.mean for model in self.known.values()]

    @cached_property
    def counts(self) -> IndexArray:
        """(A,) how often each candidate was measured, in whichever quantity that was most."""
        counts: IndexArray = np.max([model.state.counts for model in self.models.quantities.values()], axis=0)
        return counts

    @cached_property
    def aims(self) -> Aims:
        configuration = self.models.ledger.configuration
        aims = Aims(
            tuple(self._aim(objective) for objective in self.objectives),
            self.bounds,
            self.success,
            optimistic=configuration.theory is not None,
        )
        return aims.scaled_by(self.means, np.flatnonzero(self.counts))

    @cached_property
    def bounds(self) -> tuple[Bound, ...]:
        return tuple(self._bound(constraint) for constraint in self.constraints)

    @cached_property
    def success(self) -> FloatArray | None:
        """(A,) the chance that a measurement gives a value; None if every one did, or if failures do not count."""
        ledger = self.models.ledger
        if not ledger.failed or ledger.configuration.failures is None or ledger.configuration.theory is not None:
            return None
        failed = np.array(sorted(ledger.failed), dtype=np.int64)
        return chances_of_success(self.models.first.state.X, np.flatnonzero(self.counts), failed)

    @cached_property
    def feasible(self) -> FloatArray | None:
        """(A,) the chance that all constraints are met; None if there are none."""
        if not self.bounds:
            return None
        stds = [np.sqrt(model.state.variance) for model in self.known.values()]
        return Aims((), self.bounds).chance(self.means, stds)

    def meets_constraints(self) -> BoolArray:
        """(A,) whether the posterior means meet the constraints."""
        met = np.ones(len(self.counts), dtype=bool)
        for bound in self.bounds:
            met &= bound.holds(self.means[bound.posterior])
        return met

    def _position(self, name: str) -> int:
        return list(self.known).index(name)

    def _aim(self, objective: Objective) -> Aim:
        configuration, name = self.models.ledger.configuration, objective.name
        target = None if objective.target is None else self._to_model(name, objective.target)
        preference = configuration.prefer.get(name, 1.0) if configuration.prefer else None
        aim = Aim(self._position(name), target, None, preference)
        if name not in configuration.reference:
            return aim
        reference = aim.utility(np.array([self._to_model(name, configuration.reference[name])]))
        return replace(aim, reference=float(reference[0]))

    def _bound(self, constraint: Constraint) -> Bound:
        """The bounds in model units, in which a quantity that is minimised has the other sign."""
        low, high = (
            None if value is None else self._to_model(constraint.name, value)
            for value in (constraint.at_least, constraint.at_most)
        )
        if self.known[constraint.name].objective.sign < 0:
            low, high = high, low
        least, most = -np.inf if low is None else low, np.inf if high is None else high
        return Bound(self._position(constraint.name), least, most)

    def _to_model(self, name: str, value: float) -> float:
        """A value in model units; robust clipping is for measurements alone."""
        transform = replace(self.known[name].objective, clip=None)
        return float(transform.to_model(np.array([value]))[0])
