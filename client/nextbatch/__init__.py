"""The client of Nextbatch: ask for the next batch of experiments, report what was measured.

>>> from nextbatch import Client
>>> client = Client()                                    # NEXTBATCH_URL and NEXTBATCH_KEY
>>> study = client.create_study("reactions", objective="yield", unit="%")
>>> receipt = study.upload([{"key": f"R{t}", "temperature": t} for t in range(20, 120, 10)])
>>> for suggestion in study.ask(worker="bench-1", max_size=4):
...     answer = suggestion.report([0.8] * suggestion.replicates)
>>> study.best().mean
0.8

httpx and asyncio are loaded by the first client, not by this import.
"""

from ._connection import AsyncConnection, SyncConnection
from ._events import Events
from ._progress import Progress
from ._retries import Retries
from ._settings import Constraint, Objective
from ._study.reservations import Reservation
from ._study.webhooks import Delivery, Webhook
from .answers import (
    BatchDetails,
    Best,
    Candidate,
    Certificate,
    Column,
    Corrected,
    Event,
    Key,
    Observation,
    Posterior,
    Receipt,
    Reported,
    StudyDetails,
    Summary,
    Trace,
    Verdict,
)
from .backtests import Backtest
from .batch import Batch, Suggestion
from .checks import Difference, HeadCheck, HeadsChecked, Replayed, Verified
from .client import AsyncClient, Client
from .diagnostics import Diagnostics
from .display import Overview, Structure
from .errors import (
    Conflict,
    Finding,
    Forbidden,
    InvalidInput,
    NextbatchError,
    NotFound,
    ObjectiveFailed,
    Problem,
    ServerBug,
    StillComputing,
    Unauthenticated,
    Unavailable,
    Unreachable,
)
from .fronts import Front, FrontCertificate, FrontPoint
from .origins import Borrowed, DeletedStudy, ForkedFrom
from .outlook import Spending
from .study import Study

__version__ = "0.1.0"

__all__ = [
    "AsyncClient",
    "AsyncConnection",
    "Backtest",
    "Batch",
    "BatchDetails",
    "Best",
    "Borrowed",
    "Candidate",
    "Certificate",
    "Client",
    "Column",
    "Conflict",
    "Constraint",
    "Corrected",
    "DeletedStudy",
    "Delivery",
    "Diagnostics",
    "Difference",
    "Event",
    "Events",
    "Finding",
    "Forbidden",
    "ForkedFrom",
    "Front",
    "FrontCertificate",
    "FrontPoint",
    "HeadCheck",
    "HeadsChecked",
    "InvalidInput",
    "Key",
    "NextbatchError",
    "NotFound",
    "Objective",
    "ObjectiveFailed",
    "Observation",
    "Overview",
    "Posterior",
    "Problem",
    "Progress",
    "Receipt",
    "Replayed",
    "Reported",
    "Reservation",
    "Retries",
    "ServerBug",
    "Spending",
    "StillComputing",
    "Structure",
    "Study",
    "StudyDetails",
    "Suggestion",
    "Summary",
    "SyncConnection",
    "Trace",
    "Unauthenticated",
    "Unavailable",
    "Unreachable",
    "Verdict",
    "Verified",
    "Webhook",
]
