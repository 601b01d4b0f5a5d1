"""A study: upload candidates, ask, report, correct, run the whole loop, and see how far it is."""

from __future__ import annotations

from ._blocking import Blocking, finish
from ._both import W
from ._study.candidates import Candidates
from ._study.ledger import Ledger
from ._study.observations import Observations
from ._study.running import Running


class Study(Candidates[W], Running[W], Observations[W], Ledger[W]):
    """One optimisation on the server."""

    def __repr__(self) -> str:
        return f"<study {self.name}: {self.details.candidates} candidates, {self.details.state}>"

    def _repr_html_(self) -> str:
        """In a notebook: the study at a glance, read now."""
        if not isinstance(self._wire, Blocking):
            return f"<p>{self.name}: <code>await study.overview()</code> shows it at a glance.</p>"
        return finish(self._overview())._repr_html_()
