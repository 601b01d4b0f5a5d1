"""Makes `golden/format-N.jsonl`: a ledger with every event, whose bytes and hashes every later version must read.

    python -m tests.domain.golden

Run it once for a new format; the files of earlier formats never change.
"""

from pathlib import Path

from app.domain.batches import (
    AskRequest,
    BatchRecord,
    BatchSize,
    Composition,
    Computation,
    DraftSuggestion,
    Explanation,
    Inclusion,
    Neighbour,
    SuggestionId,
)
from app.domain.candidates import AttributeArrays, BlockArrays, CandidateBlock, Column, KeyArrays
from app.domain.codec import canonical
from app.domain.events import (
    AbandonedMeasurement,
    AccessGranted,
    AccessWithdrawn,
    Basis,
    BatchIssued,
    CandidateReference,
    CandidatesAdded,
    CandidatesReserved,
    CandidatesSwitched,
    CandidatesUploaded,
    EarlierResults,
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
from app.domain.ledger import FORMAT
from app.domain.observations import Measured, ReportedObservation
from app.domain.predictions import BestPredicted, Fit
from app.domain.studies import Configuration, Direction, Objective, Stop, StudyState, Theory
from tests.domain.strategies import ledger_of

GOLDEN = Path(__file__).parent / "golden"
STUDY = "golden"

CONFIGURATION = Configuration(
    objectives=(Objective("yield", "%", Direction.MAXIMIZE),),
    seed=7,
    description="Every event once.",
    columns={"pressure": {"scale": "log"}},
    stop=Stop(regret_bound=0.5, observations=100, date="2027-01-01T00:00:00.000000Z"),
    overdue_hours=48.0,
)
COLUMNS = (
    Column("key", "text", "key"),
    Column("pressure", "number", "feature"),
    Column("solvent", "text", "feature", ("DMF", "THF")),
    Column("supplier", "text", "attribute"),
)
KEYS = KeyArrays("1" * 64, "2" * 64, "3" * 64, "4" * 64)
BLOCK = CandidateBlock(
    0, 3, BlockArrays("5" * 64, "6" * 64, KEYS, {"supplier": AttributeArrays(ends="7" * 64, content="8" * 64)})
)
FIT = Fit(
    form="matern",
    theta=(-1.5, 0.25, -4.0),
    kernel={"kind": "matern", "nu": 2.5, "lengthscales": [0.5, 1.0]},
    lam=0.018,
    objective={"direction": "maximize", "offset": 50.0, "scale": 12.5},
    log_evidence=-3.25,
    norm=1.75,
    observations=2,
    distinct=2,
    version=1,
)
EVENTS: list[StudyEvent] = [
    StudyCreated(CONFIGURATION),
    AccessGranted("0123456789ab"),
    CandidatesUploaded(BLOCK, COLUMNS),
    CandidatesAdded(CandidateBlock(3, 1, BlockArrays("9" * 64, "a" * 64, KEYS), "files"), COLUMNS),
    CandidatesSwitched((CandidateReference(3, "A4"),), available=False),
    BatchIssued(
        number=1,
        request=AskRequest(
            worker="bench-2",
            min_size=1,
            max_size=3,
            where=("pressure>=2",),
            include=(Inclusion(0, replicates=2),),
            exclude=(3,),
            composition=Composition(same=("solvent",), at_most={"pressure": 2}, per={"solvent": 2}, wells=96),
            budget=100.0,
        ),
        size=BatchSize(1, 3),
        basis=Basis(5, "b" * 64),
        suggestions=(
            DraftSuggestion(0, 2, Explanation("Part of the first batch.", exploration=1.0)),
            DraftSuggestion(
                1,
                1,
                Explanation(
                    "Mostly to improve.", 0.2, mean=81.5, std=2.0, ucb=85.5, gain=0.7, nearest=(Neighbour(0, 0.9),)
                ),
            ),
            DraftSuggestion(2, 1, Explanation("Mostly to learn.", 0.9)),
        ),
        record=BatchRecord(
            ended="size",
            guaranteed=False,
            alpha=2.0,
            beta=3.5,
            dictionary=2,
            effective_dimension=1.5,
            ratio_bound=1.25,
            regret_bound=9.5,
            degraded={"jitter": 1},
            fit=FIT,
            best=BestPredicted(1, 81.5, 2.0),
        ),
        computation=Computation("nextbatch-server 0.1.0; numpy 2.4", 0.0125, shards=(0, 2)),
    ),
    ObservationsReported(
        (
            ReportedObservation(
                1,
                0,
                {"yield": Measured(83.1, std=0.4), "purity": Measured(97.0)},
                SuggestionId(1, 1),
                replicate=1,
                ref="LAB-17",
                measured_at="2026-05-04T11:30:00.000000Z",
                measured_by="Kim",
                note="clear solution",
            ),
            ReportedObservation(2, 2, {"yield": Measured(-0.0)}),
        )
    ),
    ObservationCorrected(1, 2, {"yield": Measured(83.2)}),
    ObservationRetracted(2, 2),
    MeasurementsFailed((FailedMeasurement(1, "A2", "vial broke", False, SuggestionId(1, 2)),)),
    MeasurementsAbandoned(
        (AbandonedMeasurement(2, "A3", "no time", SuggestionId(1, 3)), AbandonedMeasurement(0, "A1"))
    ),
    StudyChanged(StudyState.PAUSED, Configuration(theory=Theory(regularization=0.01, confidence="tight"), repeats=2)),
    AccessWithdrawn("0123456789ab"),
    StudyDeleted(),
    StudyImported("c" * 64, "foreign", server="0123456789abcdef", exported_at="2026-05-04T11:30:00.000000Z"),
    SuggestionSwapped(
        suggestion=SuggestionId(1, 3),
        candidate=2,
        key="A3",
        rank=4,
        replacement=DraftSuggestion(3, 1, Explanation("Mostly to learn.", 0.9)),
        present=(0, 0, 1),
        basis=Basis(6, "b" * 64),
        computation=Computation("nextbatch-server 0.1.0", 0.004),
    ),
    CandidatesReserved((CandidateReference(1, "A2"),), worker="bench-3"),
    ReservationsReleased((CandidateReference(1, "A2"),)),
    StudyForked("golden-small", 17, "d" * 64),
    ForkStarted("golden", "e" * 64, Configuration(max_batch=2)),
    ResultsBorrowed(
        (
            EarlierResults(
                "suzuki-2025",
                41,
                "f" * 64,
                Direction.MAXIMIZE,
                (83.1, 12.0),
                {"pressure": (1.0, 2.5)},
                {"solvent": ("DMF", "MeOH")},
            ),
        )
    ),
    StudyRestored(StudyState.PAUSED),
    StudyErased(),
    ObservationsReportedAgain(
        (ReportedObservation(2, 2, {"yield": Measured(61.5)}, note="measured again"),), upload=30
    ),
]


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    lines = [canonical(vars(entry)) for entry in ledger_of(EVENTS, STUDY)]
    (GOLDEN / f"format-{FORMAT}.jsonl").write_text("\n".join(lines) + "\n")
