"""What can be set of a study. Everything has a default that works."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, TypedDict


class Stop(TypedDict, total=False):
    """Any of these ends the asking, never the reporting."""

    regret_bound: float | None
    observations: int | None
    date: str | datetime | None


class Changes(TypedDict, total=False):
    """What can be changed later; the server's documentation says what each means."""

    description: str
    objective: str
    unit: str
    goal: Literal["best", "production", "explore"]
    algorithm: str
    theory: Mapping[str, Any] | None
    columns: Mapping[str, Mapping[str, str]]
    min_batch: int
    max_batch: int
    first_batch: int | None
    repeats: Literal["auto", "allowed", "never"] | int
    noise: Literal["auto", "none"]
    stop: Stop
    overdue_hours: float | None


class Settings(Changes, total=False):
    """What can be set when a study is made."""

    direction: Literal["maximize", "minimize"]
    seed: int
