"""The settings of a study. Every setting has a default that works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict


class Stop(TypedDict, total=False):
    """When a study is finished: no more batches are issued, but results can still be reported."""

    regret_bound: float | None
    observations: int | None
    date: str | datetime | None


class Objective(TypedDict, total=False):
    """A quantity to make large or small, or to bring near a target."""

    name: str
    unit: str
    direction: Literal["maximize", "minimize", "target"]
    limits: Mapping[str, float | None] | None
    target: float | None
    theory: Mapping[str, Any] | None


class Constraint(TypedDict, total=False):
    """A quantity that must be good enough."""

    name: str
    at_least: float | None
    at_most: float | None
    unit: str
    limits: Mapping[str, float | None] | None
    theory: Mapping[str, Any] | None


class Changes(TypedDict, total=False):
    """Settings that can be changed later; `/docs` on the server describes each."""

    description: str
    objective: str
    unit: str
    direction: Literal["maximize", "minimize", "target"]
    limits: Mapping[str, float | None] | None
    target: float | None
    objectives: Sequence[Objective]
    constraints: Sequence[Constraint]
    prefer: Mapping[str, float]
    reference: Mapping[str, float]
    failures: Literal["learn", "ignore"]
    goal: Literal["best", "production", "explore"]
    algorithm: str
    theory: Mapping[str, Any] | None
    columns: Mapping[str, Mapping[str, str]]
    min_batch: int
    max_batch: int
    first_batch: int | None
    where: Sequence[str]
    repeats: Literal["auto", "allowed", "never"] | int
    noise: Literal["auto", "none"] | float
    stop: Stop
    overdue_hours: float | None
    budget: float | None
    cost_unit: str | None
    confirm: int | None
    tags: Sequence[str]


class Settings(Changes, total=False):
    """Settings that a study is created with."""

    seed: int
    shard: int | None
    precision: Literal["float32"] | None
