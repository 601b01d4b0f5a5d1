"""Values that are far from what earlier results and the model lead people to expect: probably a slipped decimal point.

The expectation is cheap: the latest results of the study and, for a suggestion, the prediction that was stored with
it. No model is computed while a transaction is open.
"""

from collections.abc import Sequence
from typing import Self

from app.domain.batches import Explanation
from app.domain.errors import Finding
from app.domain.observations import Outcome, Report
from app.domain.studies import Configuration
from app.services.use_cases.report_contradictions import finding_at

EXTREME = 1e100
IMPLAUSIBLE = frozenset({"implausible-value", "extreme-value"})
"""The codes of the warnings that a sender can ask to confirm."""
FEWEST = 5
"""Results that are needed before a range of them says anything."""
_WIDTHS = 3.0
_WIDTHS_BESIDE_PREDICTION = 1.0
_STANDARD_DEVIATIONS = 8.0


class Plausibility:
    """Judges new values by the latest values of the study."""

    @classmethod
    def by_quantity(cls, configuration: Configuration, latest: Sequence[Outcome]) -> dict[str, Self]:
        """For each quantity of a study, by its latest values."""
        names = [quantity.name for quantity in configuration.quantities]
        return {name: cls([values[name].value for values in latest if name in values]) for name in names}

    def __init__(self, latest: Sequence[float]) -> None:
        self._known = len(latest) >= FEWEST
        self._low, self._high = (min(latest), max(latest)) if latest else (0.0, 0.0)

    def finding(self, value: float, why: Explanation | None, report: Report) -> Finding | None:
        """The warning that a value deserves, if any."""
        if abs(value) > EXTREME:
            message = "This value is extremely large. Check for a typing error."
            return finding_at(report, "extreme-value", message, "value")
        if not self._is_far_out(value, why):
            return None
        expected = f"About {why.mean:.6g} was expected, and the" if why and why.mean is not None else "The"
        message = (
            f"This value is implausible. {expected} latest results lie between {self._low:.6g} and {self._high:.6g}."
            " Check the decimal sign and the unit."
        )
        return finding_at(report, "implausible-value", message, "value")

    def allows(self, value: float) -> bool:
        """Whether a value that nobody predicted deserves no warning."""
        return abs(value) <= EXTREME and not self._is_far_out(value, None)

    def _is_far_out(self, value: float, why: Explanation | None) -> bool:
        width = self._high - self._low
        if not self._known or width <= 0:
            return False
        distance = max(self._low - value, value - self._high)
        if why is None or why.mean is None or why.std is None:
            return distance > _WIDTHS * width
        unexpected = abs(value - why.mean) > _STANDARD_DEVIATIONS * why.std
        return distance > (_WIDTHS_BESIDE_PREDICTION if unexpected else _WIDTHS) * width
