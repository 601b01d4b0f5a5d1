"""What use cases and workflows work with: built once by `main` and passed down."""

from dataclasses import dataclass, field
from functools import partial

from app.compute.channel import WorkerSettings
from app.compute.ledger_states import LedgerStates
from app.compute.local import Compute, Jobs, LocalCompute, prepare_algebra
from app.compute.models import Models
from app.compute.recent_predictions import RecentPredictions
from app.compute.simulations import Simulations
from app.compute.supervision import SupervisedWorker
from app.compute.workers import WorkerCompute
from app.services.drawing import StructureDrawer
from app.services.foresight import foresee
from app.services.group_commit import GroupCommit
from app.services.memory import MemoryBudget
from app.services.recent_results import RecentResults
from app.services.signing import Signer, open_signer
from app.settings import Settings
from app.storage.array_cache import ArrayCache
from app.storage.database import Database, open_database
from app.storage.mapped_arrays import MappedArrays
from app.storage.schema import newest

MOST_WAITING_BACKTESTS = 50
BACKTEST_SECONDS = 3600.0


@dataclass(frozen=True)
class Resources:
    settings: Settings
    database: Database
    arrays: ArrayCache
    ledger_states: LedgerStates
    models: Models  # of this process, if it computes itself
    compute: Compute
    predictions: RecentPredictions
    jobs: Jobs  # asks
    memory: MemoryBudget  # of requests in progress
    signer: Signer
    snapshots: Jobs  # models to save when there is time
    commits: GroupCommit  # of reports
    backtests: Jobs  # they wait for a child process
    simulations: Simulations
    recent_results: RecentResults = field(default_factory=RecentResults)
    structures: StructureDrawer = field(default_factory=StructureDrawer)

    def close(self) -> None:
        """Finish what runs, then close the database."""
        self.commits.close()
        self.jobs.close()
        self.snapshots.close()
        self.simulations.close()
        self.backtests.close()
        self.compute.close()
        self.structures.close()
        self.database.dispose()


def open_resources(settings: Settings) -> Resources:
    """Connect to the database, which must exist and be migrated, and make the caches and threads."""
    database = open_database(settings.database_address, settings.database_connections, settings.heads_file, newest())
    if database.file is not None:
        database.file.share()
    folder = settings.array_folder
    arrays = ArrayCache(settings.cache_bytes, MappedArrays(folder) if folder else None)
    states = LedgerStates(database)
    models = Models(database, arrays, states, settings.model_bytes)
    return Resources(
        settings=settings,
        database=database,
        arrays=arrays,
        ledger_states=states,
        models=models,
        compute=_compute(settings, database, models),
        predictions=RecentPredictions(settings.cache_bytes),
        jobs=Jobs(settings.engine_threads * max(1, settings.compute_workers or 0), settings.engine_queue),
        memory=MemoryBudget(settings.work_bytes),
        signer=open_signer(settings.signing_key_file),
        snapshots=Jobs(1, settings.engine_queue),
        commits=_group_commit(settings, database, arrays),
        backtests=Jobs(1, MOST_WAITING_BACKTESTS),
        simulations=Simulations(BACKTEST_SECONDS),
    )


def _group_commit(settings: Settings, database: Database, arrays: ArrayCache) -> GroupCommit:
    threads = max(1, settings.database_connections // 4)
    return GroupCommit(database, threads, settings.max_waiting, partial(foresee, arrays))


def _compute(settings: Settings, database: Database, models: Models) -> Compute:
    """On a Ray cluster or in worker processes, if there are to be any; else on the threads of this process."""
    if not settings.compute_workers and settings.compute == "processes":
        prepare_algebra()
        return LocalCompute(models, settings.engine_seconds, settings.sweep_threads)
    worker = WorkerSettings(
        database=settings.database_address,
        cache_bytes=settings.cache_bytes,
        model_bytes=settings.model_bytes,
        seconds=settings.engine_seconds,
        threads=settings.engine_threads,
        log_format=settings.log_format,
        log_level=settings.log_level,
        sweep_threads=settings.sweep_threads,
        array_folder=settings.array_folder,
        spread_candidates=settings.spread_candidates,
    )
    workers = settings.compute_workers or 1
    if settings.compute == "processes":
        return WorkerCompute(database, [SupervisedWorker(worker) for _ in range(workers)])
    from app.compute.on_ray.compute import RayCompute  # noqa: PLC0415  (an extra)

    return RayCompute(database, worker, workers, settings.ray_address)
