"""The server's answers as frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .errors import Finding
from .fronts import Front, FrontCertificate, Quantity, Volume
from .origins import ForkedFrom
from .outlook import Advice, NextBatch, Outlook, RemainingGain, Spending
from .previews import Value


@dataclass(frozen=True)
class Column:
    """A column: `kind` is number, boolean or text; `role` is feature or attribute; `expense` is cost or duration."""

    name: str
    kind: str
    role: str
    levels: tuple[str, ...] = ()
    expense: str | None = None
    fingerprint: Mapping[str, Any] | None = None  # of molecules: radius, counts, version of RDKit


@dataclass(frozen=True)
class StudyDetails:
    """A study as it was when it was last read."""

    name: str
    state: str
    version: int
    created_at: datetime
    configuration: Mapping[str, Any]
    candidates: int
    columns: tuple[Column, ...]
    origin: str | None = None
    forked_from: ForkedFrom | None = None


@dataclass(frozen=True)
class Receipt:
    """What an upload did, or would do (dry run)."""

    stored: bool
    added: int
    candidates: int
    columns: tuple[Column, ...]
    warnings: tuple[Finding, ...]


@dataclass(frozen=True)
class Posterior:
    """What the model expects of a candidate, how often it was measured, and how many measurements are pending."""

    mean: float
    std: float
    lower: float
    upper: float
    counts: int
    pending: int
    quantities: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    feasible: float | None = None
    success: float | None = None
    on_front: bool | None = None
    front_chance: float | None = None


@dataclass(frozen=True)
class Candidate:
    """One candidate; `posterior` is None unless it was asked for."""

    number: int
    key: str
    features: Mapping[str, Value]
    attributes: Mapping[str, Value]
    available: bool
    reason: str | None
    posterior: Posterior | None = None
    cost: float | None = None
    duration: float | None = None
    reserved_by: str | None = None


@dataclass(frozen=True)
class Switched:
    """How many candidates were switched off or on, and how many are available now."""

    switched: int
    available: int


@dataclass(frozen=True)
class ReportedValue:
    """What became of one report: recorded, completed, corrected (of `replaced`), duplicate, failed or abandoned."""

    status: str
    observation: int | None
    key: str
    suggestion: str | None
    replicate: int | None
    value: float | None = None
    row: int | None = None
    values: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    replaced: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Reported:
    """What a report did, or would do (dry run); `results` are in the order of what was sent."""

    stored: bool
    recorded: int
    results: tuple[ReportedValue, ...]
    warnings: tuple[Finding, ...]
    upload: int | None = None


@dataclass(frozen=True)
class Observation:
    """One version of one measurement; `value` is that of the first objective, `values` has every quantity by name."""

    observation: int
    version: int
    state: str
    key: str
    value: float | None
    suggestion: str | None
    replicate: int | None
    ref: str | None
    measured_at: datetime | None
    measured_by: str | None
    note: str | None
    reason: str | None
    actor: str
    recorded_at: datetime
    seq: int
    origin: str | None = None
    values: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Corrected:
    """The new version, and the batches that were chosen with the old value (they stay as issued)."""

    observation: Observation
    affected_batches: tuple[int, ...]


@dataclass(frozen=True)
class Best:
    """The measured candidate with the best average value, and its conditions."""

    key: str
    mean: float
    measurements: int
    features: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        """
        >>> print(Best("A7", 83.25, 2, {"temperature": 90.0, "solvent": "DMF"}))
        A7: 83.25 (mean of 2), temperature 90, solvent DMF
        """
        mean = f"{self.mean:.6g}" + (f" (mean of {self.measurements})" if self.measurements > 1 else "")
        conditions = [
            f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in self.features.items()
        ]
        return ", ".join([f"{self.key}: {mean}", *conditions])


@dataclass(frozen=True)
class Predicted:
    """The candidate that the model expects to be best."""

    key: str
    mean: float
    std: float


@dataclass(frozen=True)
class Certificate:
    """With the given confidence, no candidate is better than `key` by more than `regret_bound`."""

    key: str
    mean: float
    lower: float
    upper: float
    regret_bound: float
    confidence: float
    estimate: bool
    assumptions: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """The certificate (None before the first result; `front` of several objectives), whether to stop, both in words.

    Advice is None before the first result and in theory mode, what is left to gain also while too few results differ.
    """

    certificate: Certificate | None
    stop: bool
    rule: str | None
    words: str
    front: FrontCertificate | None = None
    remaining_gain: RemainingGain | None = None
    chance_best_is_measured: float | None = None
    next_batch: NextBatch | None = None
    candidates_still_possible: int | None = None
    advice: Advice | None = None

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Counts:
    """How many candidates, results and batches a study has."""

    candidates: int
    available: int
    measured: int
    observations: int
    batches: int
    pending: int
    reserved: int = 0


@dataclass(frozen=True)
class OpenBatch:
    """A batch with pending suggestions."""

    number: int
    worker: str
    size: int
    pending: int
    created_at: datetime
    overdue: bool


@dataclass(frozen=True)
class Summary:
    """A study at a glance."""

    name: str
    seq: int
    state: str
    finished: str | None
    direction: str
    objective: str
    unit: str
    counts: Counts
    best_observed: Best | None
    best_predicted: Predicted | None
    certificate: Certificate | None
    open_batches: tuple[OpenBatch, ...]
    headline: str
    outlook: Outlook | None = None
    quantities: tuple[Quantity, ...] = ()
    front: Front | None = None
    spending: Spending | None = None

    def __str__(self) -> str:
        return self.headline


@dataclass(frozen=True)
class BatchDetails:
    """A batch without its suggestions."""

    number: int
    worker: str
    state: str
    size: int
    created_at: datetime
    basis_seq: int
    ended: str
    ratio_bound: float | None
    guaranteed: bool
    alpha: float
    beta: float
    dictionary: int
    effective_dimension: float
    regret_bound: float | None
    seconds: float
    build: str
    degraded: Mapping[str, int] = field(default_factory=dict)
    fit: Mapping[str, Any] | None = None
    fits: Mapping[str, Any] = field(default_factory=dict)
    origin: str | None = None
    size_words: str | None = None
    prices: Mapping[str, float] = field(default_factory=dict)
    price_words: Mapping[str, str] = field(default_factory=dict)
    cost: float | None = None
    duration: float | None = None


@dataclass(frozen=True)
class Point:
    """One measured value, and the best value up to then, of candidates that meet the constraints."""

    observation: int
    value: float
    best: float | None


@dataclass(frozen=True)
class Trace:
    """The course of a study, batch by batch and value by value (thinned if there are many)."""

    batches: tuple[BatchDetails, ...]
    progress: tuple[Point, ...]
    hypervolume: tuple[Volume, ...] = ()


@dataclass(frozen=True)
class Event:
    """One event of the ledger; `payload` is the text that was hashed, `words` a sentence about it."""

    seq: int
    type: str
    payload: str
    actor: str
    reason: str | None
    recorded_at: datetime
    request_id: str
    previous: str
    hash: str
    words: str | None = None
    origin: str | None = None


@dataclass(frozen=True)
class Key:
    """An API key. `key`, the secret itself, is None except when the key has just been created."""

    id: str
    name: str
    role: str
    studies: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    key: str | None = field(default=None, repr=False)
