"""What every report of a study reads, remembered at the head of its ledger.

The head is the hash of everything that ever happened to a study. So what was read at a head holds for as long as the
study has that head, whoever wrote meanwhile, and a report that was undone leaves a head that nobody will see again.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from sqlalchemy import Connection

from app.domain.batches import Suggestion, SuggestionId, SuggestionState
from app.domain.observations import Outcome
from app.domain.studies import Study
from app.storage import batches, observations

LATEST = 50
"""Results that a new value is compared with."""
MOST_STUDIES = 256
MOST_PENDING = 1_000


@dataclass(frozen=True)
class StudyAtHead:
    """The newest results of a study, newest first, and its pending suggestions, oldest first, at one head."""

    head: str
    latest: tuple[tuple[int, Outcome], ...]
    pending: tuple[Suggestion, ...]

    @property
    def next_number(self) -> int:
        return self.latest[0][0] + 1 if self.latest else 1


class RecentResults:
    """The studies that had reports lately; reports of one study come one after the other."""

    def __init__(self) -> None:
        self._studies: dict[int, StudyAtHead] = {}

    def of(self, connection: Connection, study: Study) -> StudyAtHead:
        """The study as it is in the database, where it is locked."""
        known = self._studies.get(study.id)
        if known is None or known.head != study.head:
            latest = observations.latest(connection, study, LATEST)
            pending = batches.suggestions_in(connection, study, SuggestionState.PENDING)
            known = StudyAtHead(study.head, tuple(latest), tuple(pending))
            self._keep(study, known)
        return known

    def add(
        self,
        before: StudyAtHead,
        study: Study,
        new: Sequence[tuple[int, Outcome]],
        answered: Set[SuggestionId],
    ) -> None:
        """Results were recorded, which answer these suggestions, and nothing else has happened."""
        latest = (*reversed(new[-LATEST:]), *before.latest)[:LATEST]
        pending = before.pending
        if answered:
            pending = tuple(suggestion for suggestion in pending if suggestion.id not in answered)
        self._keep(study, StudyAtHead(study.head, latest, pending))

    def _keep(self, study: Study, known: StudyAtHead) -> None:
        if len(self._studies) >= MOST_STUDIES:
            self._studies.clear()
        if len(known.pending) <= MOST_PENDING:
            self._studies[study.id] = known
