"""What the use cases work with, built once by `main` and passed down."""

from dataclasses import dataclass

from app.services.arrays import ArrayCache
from app.services.bridge.models import Models
from app.services.jobs import Jobs
from app.settings import Settings
from app.storage.database import Database


@dataclass(frozen=True)
class Resources:
    settings: Settings
    database: Database
    arrays: ArrayCache
    models: Models
    jobs: Jobs  # batches to be computed
    snapshots: Jobs  # models to be kept, when there is time
