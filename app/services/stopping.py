"""The stop rule: when a study has done what it was made for."""

from app.domain.clock import now
from app.domain.errors import StudyFinished
from app.services.bridge.views import View
from app.services.tally import Tally


def reached(tally: Tally, view: View | None = None) -> str | None:
    """Why the study is finished, or None. The regret bound needs the model."""
    stop = tally.configuration.stop
    if stop.observations is not None and int(tally.alive.sum()) >= stop.observations:
        return "observations"
    if stop.date is not None and now() >= stop.date:
        return "date"
    sure = view.certificate() if view is not None and stop.regret_bound is not None else None
    if sure is not None and stop.regret_bound is not None and sure["regret_bound"] <= stop.regret_bound:
        return "regret_bound"
    return None


def must_go_on(tally: Tally, view: View | None = None) -> None:
    why = reached(tally, view)
    if why is not None:
        raise StudyFinished(rule=why)
