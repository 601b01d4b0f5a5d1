"""What a client did, and what it was told: the history that the checks go over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    OK = "ok"  # it was told that it is done
    FAIL = "fail"  # it was told that it is not done
    UNKNOWN = "unknown"  # it was told nothing, or that nobody knows


@dataclass(frozen=True)
class Operation:
    kind: str  # report, ask, correct, fork
    values: tuple[float, ...]  # those it reported: every value of a history is used once
    began: float
    ended: float
    outcome: Outcome
    answer: Mapping[str, Any] = field(default_factory=dict)
    fork: str = ""  # the name of the study that a fork makes


@dataclass
class History:
    operations: list[Operation] = field(default_factory=list)  # in the order of their ends, roughly
    violations: list[str] = field(default_factory=list)  # what no answer may be

    compared: int = 0  # answers that were asked for a second time

    def batches(self) -> int:
        return len({one.answer["number"] for one in self.operations if one.kind == "ask" and one.answer})

    def count(self, outcome: Outcome) -> int:
        return sum(one.outcome is outcome for one in self.operations)
