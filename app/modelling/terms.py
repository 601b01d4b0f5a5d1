"""What an ask requests beyond a size, in the numbers of candidates, and how a batch under such terms is judged."""

from dataclasses import dataclass, replace

from app.arrays import BoolArray, IndexArray
from app.domain.batches import Inclusion
from app.modelling.allowances import Allowance


@dataclass(frozen=True, eq=False)
class Grouping:
    """A column as groups of equal values, (A,) codes; -1 where the value is missing, which is a group of its own."""

    column: str
    codes: IndexArray
    most: int


@dataclass(frozen=True, eq=False)
class Terms:
    """What an ask requests beyond a size, in the numbers of candidates."""

    where: BoolArray | None = None
    """(A,) which candidates meet the conditions."""
    exclude: IndexArray | None = None
    """Candidates that must not be chosen."""
    reserved: IndexArray | None = None
    """Candidates that somebody will measure without a batch: never chosen, whatever the request says."""
    include: tuple[Inclusion, ...] = ()
    same: IndexArray | None = None
    """(A,) code of the value that all members of the batch must share."""
    at_most: tuple[Grouping, ...] = ()
    """No more distinct values in the batch than `most`."""
    present: tuple[int, ...] = ()
    """Members that the batch has already: they take room, and are pending or measured."""
    released: tuple[int, ...] = ()
    """Pending measurements that will not be made."""
    per: tuple[Grouping, ...] = ()
    """No more measurements with the same value than `most`."""
    allowances: tuple[Allowance, ...] = ()
    """What all measurements together may take."""
    confirm: int | None = None
    """Measure the best few until each has so many measurements, and nothing else."""

    @property
    def are_plain(self) -> bool:
        """Whether the algorithm can choose the whole batch in one go."""
        grown = self.include or self.present or self.at_most or self.per or self.allowances
        return not grown and self.same is None

    @property
    def names(self) -> tuple[str, ...]:
        """The terms that the request states."""
        stated = {
            "where": self.where is not None,
            "exclude": self.exclude is not None,
            "include": bool(self.include),
            "same": self.same is not None,
            "at_most": bool(self.at_most),
            "per": bool(self.per),
        }
        named = tuple(name for name, is_stated in stated.items() if is_stated)
        return named + tuple(allowance.name for allowance in self.allowances)

    def without(self, name: str) -> "Terms":
        """The other terms."""
        others = tuple(allowance for allowance in self.allowances if allowance.name != name)
        if len(others) < len(self.allowances):
            return replace(self, allowances=others)
        return replace(self, **{name: getattr(NO_TERMS, name)})


NO_TERMS = Terms()


@dataclass(frozen=True)
class Need:
    """What a batch under terms must hold, and how it is judged."""

    least: int
    """How many the request needs; more may be chosen."""
    reached: float | None = None
    """What a choice must exceed to promise anything; by default the best measured candidate."""
    limit: IndexArray | None = None
    """(A,) how often each candidate may be chosen; by default once."""
