"""Whether the events of an archive can have happened: each is held to what the use cases would have allowed."""

from collections.abc import Sequence
from typing import assert_never

from app.deadline import check_deadline
from app.domain import limits
from app.domain.batches import DraftSuggestion, SuggestionId
from app.domain.candidates import Column
from app.domain.errors import Refusal, StudyNotActive
from app.domain.events import (
    AbandonedMeasurement,
    AccessGranted,
    AccessWithdrawn,
    Basis,
    BatchIssued,
    CandidatesAdded,
    CandidatesReserved,
    CandidatesSwitched,
    CandidatesUploaded,
    FailedMeasurement,
    ForkStarted,
    MeasurementsAbandoned,
    MeasurementsFailed,
    ObservationCorrected,
    ObservationRetracted,
    ObservationsReported,
    ObservationsReportedAgain,
    ReservationsReleased,
    ResultsBorrowed,
    StudyChanged,
    StudyCreated,
    StudyDeleted,
    StudyErased,
    StudyEvent,
    StudyForked,
    StudyImported,
    StudyRestored,
    SuggestionSwapped,
)
from app.domain.ledger import LedgerEntry
from app.domain.limits import MOST_MEASUREMENTS
from app.domain.quantities import must_measure_the_same
from app.domain.reservations import MOST_RESERVED
from app.domain.studies import TRANSITIONS, Configuration, StudyState
from app.modelling.engine_settings import check_configuration, check_features
from app.services.archives.blocks import check_block, check_columns, check_earlier
from app.services.archives.entries import check_entry, check_values, extends
from app.services.archives.measurements import MeasuredStory, Suggested
from app.services.archives.zip_reading import ArchivedArrays, Impossible, must
from app.services.intake.limits import IntakeLimits


def check_story(entries: Sequence[LedgerEntry], arrays: ArchivedArrays, most: IntakeLimits) -> None:
    """Raise `Impossible`, naming the event, unless all of it can have happened."""
    story = _Story(arrays, most)
    for entry in entries:
        check_deadline()
        try:
            story.take(entry, entry.event())
        except (Impossible, Refusal) as error:
            raise Impossible(f"Event {entry.seq} cannot have happened: {error}.") from error
    must(story.state is not StudyState.DELETED, "a deleted study cannot be exported")


class _Story:
    """Follows one ledger from its first event."""

    def __init__(self, arrays: ArchivedArrays, most: IntakeLimits) -> None:
        self._arrays, self._most = arrays, most
        self.state: StudyState | None = None
        self._state_before: StudyState | None = None  # it was deleted
        self._configuration = Configuration()
        self._columns: tuple[Column, ...] = ()
        self._rows = self._first_rows = 0  # of all candidates, and of their first block
        self._keys: list[str] | None = None
        self._taken_keys: set[str] = set()
        self._hashes: list[str] = []  # of the entries so far
        self._batches = 0
        self._newest_of: dict[str, list[Suggested]] = {}  # worker → the suggestions of its newest batch
        self._workers: list[str] = []  # of batch 1, 2, 3
        self._measured = MeasuredStory()
        self._reserved: dict[int, str] = {}  # candidate → worker

    def take(self, entry: LedgerEntry, event: StudyEvent) -> None:
        check_entry(entry)
        must((self.state is None) == isinstance(event, StudyCreated), "a study is created once, and first")
        must(self.state is not StudyState.DELETED or isinstance(event, StudyRestored), "the study is deleted")
        self._check(entry, event)
        self._hashes.append(entry.hash)

    def _check(self, entry: LedgerEntry, event: StudyEvent) -> None:  # noqa: PLR0912, PLR0915  (one branch per event)
        match event:
            case StudyCreated():
                check_configuration(event.configuration)
                self.state, self._configuration = StudyState.ACTIVE, event.configuration
            case StudyImported():
                must(event.head == entry.previous, "it names another head than the one before it")
                must(limits.is_line(event.server or "") and limits.is_line(event.exported_at or ""), "its texts")
                must(event.study is None or limits.is_name(event.study), "no study can have this name")
            case ForkStarted():
                must(event.head == entry.previous, "it names another head than the one before it")
                self._fork(event)
            case ResultsBorrowed():
                self._borrow(event)
            case StudyForked():
                must(limits.is_name(event.fork) and 1 <= event.at < entry.seq, "nothing can have been forked so")
            case StudyChanged():
                self._change(event)
            case StudyDeleted():
                self._state_before, self.state = self.state, StudyState.DELETED
            case StudyRestored():
                was_so = self.state is StudyState.DELETED and event.state is self._state_before
                must(was_so, "a deleted study is restored to the state that it had")
                self.state = event.state
            case StudyErased():
                raise Impossible("nothing is left of a study that was erased")
            case AccessGranted() | AccessWithdrawn():
                must(limits.is_key_id(event.key_id), "this is not the id of a key")
            case CandidatesUploaded():
                must(not (self._batches or self._measured.observations or self._reserved), "the candidates are in use")
                self._columns, self._rows, self._keys = (), 0, None
                self._first_rows = 0
                self._taken_keys = set()
                self._add(event)
            case CandidatesAdded():
                self._add(event)
            case CandidatesSwitched():
                self._switch(entry, event)
            case CandidatesReserved():
                self._reserve(event)
            case ReservationsReleased():
                must(event.candidates, "it releases nothing")
                for reference in event.candidates:
                    self._check_candidate(reference.candidate, reference.key)
                    must(self._reserved.pop(reference.candidate, None) is not None, "the candidate is not reserved")
            case BatchIssued():
                self._issue(entry, event)
            case SuggestionSwapped():
                self._swap(entry, event)
            case ObservationsReported():
                self._report(event)
            case ObservationsReportedAgain():
                must(entry.reason, "it has no reason")
                self._report(event)
            case ObservationCorrected():
                check_values(event.values)
                self._measured.revise(entry, event.observation, event.version, retracted=False)
            case ObservationRetracted():
                self._measured.revise(entry, event.observation, event.version, retracted=True)
            case MeasurementsFailed():
                for failure in event.failures:
                    must(limits.is_reason(failure.reason), "a failure has no reason")
                self._give_up(event.failures)
            case MeasurementsAbandoned():
                for abandoned in event.abandoned:
                    must(abandoned.reason is None or limits.is_reason(abandoned.reason), "this cannot be a reason")
                self._give_up(event.abandoned)
            case _:
                assert_never(event)

    def _fork(self, event: ForkStarted) -> None:
        must(limits.is_name(event.study), "no study can have this name")
        check_configuration(event.configuration)
        self.state, self._configuration = StudyState.ACTIVE, event.configuration
        self._reserved.clear()
        for suggested in self._measured.suggestions.values():
            suggested.given_up = suggested.given_up or suggested.is_pending

    def _borrow(self, event: ResultsBorrowed) -> None:
        self._must_not_be_archived()
        check_earlier(event.earlier)
        if event.earlier:
            plain = self._configuration.is_plain and self._configuration.theory is None
            must(plain and self._columns, "a study of this kind cannot borrow results")
            kinds = {column.name: column.kind for column in self._columns if column.role == "feature"}
            for results in event.earlier:
                fit = all(kinds.get(name, "text") != "text" for name in results.numbers)
                fit = fit and all(kinds.get(name) == "text" for name in results.texts)
                must(fit, "the results that it borrows are of other columns")

    def _change(self, event: StudyChanged) -> None:
        check_configuration(event.configuration)
        before, after = self._configuration, event.configuration
        state = self.state or StudyState.ACTIVE
        legal = event.state is state or event.state in TRANSITIONS[state]
        must(legal and event.state is not StudyState.DELETED, f"a study that is {state} cannot become {event.state}")
        must(before.seed == after.seed, "the seed is fixed when a study is created")
        must(before.shard == after.shard, "the size of shards is fixed when a study is created")
        must(before.precision == after.precision, "the precision is fixed when a study is created")
        if self._measured.observations:
            must_measure_the_same(before, after)
        self.state, self._configuration = event.state, after

    def _add(self, event: CandidatesUploaded | CandidatesAdded) -> None:
        self._must_not_be_archived()
        check_columns(event.columns, self._most)
        must(event.block.first == self._rows, "its candidates do not follow those before")
        must(self._rows + event.block.rows <= self._most.rows, "it has too many candidates")
        must(extends(self._columns, event.columns), "its columns are not those of the study")
        self._first_rows = self._first_rows or event.block.rows
        check_features(event.columns, self._first_rows, self._rows + event.block.rows, self._most.cells)
        keys = check_block(event.block, event.columns, self._arrays, self._most)
        if self._rows:
            must((keys is None) == (self._keys is None), "only some of its candidates have keys")
        if keys is not None:
            must(self._taken_keys.isdisjoint(keys), "a key names two candidates")
            self._taken_keys.update(keys)
            self._keys = self._keys or []
            self._keys.extend(keys)
        self._columns, self._rows = event.columns, self._rows + event.block.rows

    def _switch(self, entry: LedgerEntry, event: CandidatesSwitched) -> None:
        self._must_not_be_archived()
        must(event.candidates and (event.available or entry.reason), "it switches nothing, or for no reason")
        for reference in event.candidates:
            self._check_candidate(reference.candidate, reference.key)

    def _reserve(self, event: CandidatesReserved) -> None:
        if self.state is not StudyState.ACTIVE:
            raise StudyNotActive
        must(event.candidates and limits.is_name(event.worker), "it reserves nothing, or for nobody")
        for reference in event.candidates:
            self._check_candidate(reference.candidate, reference.key)
            must(reference.candidate not in self._reserved, "the candidate is reserved already")
            self._reserved[reference.candidate] = event.worker
        must(len(self._reserved) <= MOST_RESERVED, "too many candidates are reserved")

    def _issue(self, entry: LedgerEntry, event: BatchIssued) -> None:
        if self.state is not StudyState.ACTIVE:
            raise StudyNotActive
        number, basis = event.number, event.basis
        must(number == self._batches + 1, "batches are numbered 1, 2, 3")
        must(limits.is_request(event.request) and event.suggestions, "nobody can have asked for this")
        must(1 <= event.size.least <= event.size.most <= MOST_MEASUREMENTS, "a batch cannot have this size")
        self._check_basis(entry, basis)
        newest = self._newest_of.get(event.request.worker, ())
        must(not any(suggested.is_pending for suggested in newest), "its worker has an open batch")
        self._check_record(event)
        for draft in event.suggestions:
            holder = self._reserved.pop(draft.candidate, event.request.worker)
            must(holder == event.request.worker, "another worker has reserved the candidate")
        self._newest_of[event.request.worker] = [self._suggest(draft) for draft in event.suggestions]
        for rank, suggested in enumerate(self._newest_of[event.request.worker], start=1):
            self._measured.suggestions[SuggestionId(number, rank)] = suggested
        self._batches = number
        self._workers.append(event.request.worker)

    def _swap(self, entry: LedgerEntry, event: SuggestionSwapped) -> None:
        if self.state is not StudyState.ACTIVE:
            raise StudyNotActive
        self._check_candidate(event.candidate, event.key)
        self._check_basis(entry, event.basis)
        old = self._measured.answered(event.suggestion, event.candidate)
        must(old.is_pending and not old.filled and entry.reason, "the suggestion is not pending, or there is no reason")
        new = SuggestionId(event.suggestion.batch, event.rank)
        known = self._measured.suggestions
        follows = SuggestionId(new.batch, new.rank - 1) in known and new not in known
        must(follows, "its rank does not follow those before")
        for candidate in event.present:
            self._check_candidate(candidate)
        must(limits.is_text(event.computation.build, limits.REASON_LENGTH), "its build is too long")
        self._measured.suggestions[new] = self._suggest(event.replacement)
        self._newest_of[self._workers[new.batch - 1]].append(self._measured.suggestions[new])
        old.given_up = True

    def _check_basis(self, entry: LedgerEntry, basis: Basis) -> None:
        known = 1 <= basis.seq < entry.seq and self._hashes[basis.seq - 1] == basis.hash
        must(known, "it was computed from something else")

    def _suggest(self, draft: DraftSuggestion) -> Suggested:
        must(1 <= draft.replicates <= MOST_MEASUREMENTS, "nobody can measure so often")
        must(limits.is_text(draft.why.words), "its explanation is too long")
        for candidate in (draft.candidate, *(neighbour.candidate for neighbour in draft.why.nearest)):
            self._check_candidate(candidate)
        return Suggested(draft.candidate, draft.replicates)

    def _check_record(self, event: BatchIssued) -> None:
        record, computation = event.record, event.computation
        texts = (record.ended, computation.build, *record.degraded, *event.request.where)
        must(
            all(limits.is_text(text, limits.REASON_LENGTH) for text in texts), "its record has texts that are too long"
        )
        must(computation.seconds >= 0 and record.dictionary >= 0, "its record has numbers that cannot be")
        named = list(event.request.exclude)
        named += [inclusion.candidate for inclusion in event.request.include]
        named += [] if record.best is None else [record.best.candidate]
        for candidate in named:
            self._check_candidate(candidate)

    def _report(self, event: ObservationsReported | ObservationsReportedAgain) -> None:
        must(event.observations, "it reports nothing")
        quantities = {quantity.name for quantity in self._configuration.quantities}
        anew = isinstance(event, ObservationsReportedAgain)
        take = self._measured.report_again if anew else self._measured.report
        for reported in event.observations:
            self._check_candidate(reported.candidate)
            take(reported, quantities)
            self._reserved.pop(reported.candidate, None)

    def _give_up(self, measurements: Sequence[FailedMeasurement | AbandonedMeasurement]) -> None:
        must(measurements, "it is about nothing")
        for measurement in measurements:
            self._check_candidate(measurement.candidate, measurement.key)
            self._reserved.pop(measurement.candidate, None)
            if measurement.suggestion is not None:
                self._measured.give_up(measurement.suggestion, measurement.candidate)

    def _check_candidate(self, candidate: int, key: str | None = None) -> None:
        must(0 <= candidate < self._rows, "there is no such candidate")
        expected = str(candidate + 1) if self._keys is None else self._keys[candidate]
        must(key is None or key == expected, "the candidate has another key")

    def _must_not_be_archived(self) -> None:
        must(self.state is not StudyState.ARCHIVED, "the study is archived")
