"""What a growing batch still has room for, one choice after the other."""

from dataclasses import dataclass, field

import numpy as np

from app.arrays import BoolArray, IndexArray
from app.modelling.terms import Grouping, Terms


@dataclass(eq=False)
class Room:
    """What a growing batch still has room for."""

    terms: Terms
    available: BoolArray
    least: int
    taken: list[int] = field(default_factory=list)

    def take(self, candidate: int) -> None:
        self.taken.append(candidate)

    def open_for(self, missing: int) -> BoolArray:
        """(A,) what may be chosen next, so that `missing` measurements in all can still be found where possible."""
        open_ones = self.available.copy()
        taken = np.array(self.taken, dtype=np.int64)
        for grouping in self.terms.per:
            full, counts = np.unique(grouping.codes[taken], return_counts=True)
            open_ones &= ~np.isin(grouping.codes, full[counts >= grouping.most])
        for grouping in self.terms.at_most:
            open_ones &= self._in_reach(grouping, np.unique(grouping.codes[taken]), open_ones, missing)
        if self.terms.allowances:
            fresh = open_ones.copy()
            fresh[taken] = False
            wanted = self.least + len(self.terms.present) - len(taken)
            for allowance in self.terms.allowances:
                open_ones = allowance.fitting(allowance.left(taken), open_ones, fresh, wanted)
        return open_ones

    def _in_reach(self, grouping: Grouping, used: IndexArray, open_ones: BoolArray, missing: int) -> BoolArray:
        """Values in use; and, while there may be more, those that leave room for the missing measurements."""
        codes = grouping.codes
        more = grouping.most - len(used)
        in_use: BoolArray = np.isin(codes, used)
        if more <= 0:
            return in_use
        rooms = self._rooms(codes, open_ones)
        have = sum(rooms.pop(int(value), 0) for value in used)
        largest = sorted(rooms, key=lambda value: (-rooms[value], value))[:more]
        others = sum(rooms[value] for value in largest[: more - 1])
        best = sum(rooms[value] for value in largest)  # with a value that is itself among the largest
        reach = {value: have + (best if value in largest else room + others) for value, room in rooms.items()}
        enough = [value for value in rooms if reach[value] >= missing]
        return in_use | np.isin(codes, enough or list(rooms))

    def _rooms(self, codes: IndexArray, open_ones: BoolArray) -> dict[int, int]:
        """How many measurements each value of a column has room for, by the list and by `per` of the same column."""
        taken = np.array(self.taken, dtype=np.int64)
        fresh = open_ones.copy()
        fresh[taken] = False  # whether one may be repeated is not known here
        values, counts = np.unique(codes[fresh], return_counts=True)
        rooms = dict(zip(values.tolist(), counts.tolist(), strict=True))
        for grouping in self.terms.per:
            if np.array_equal(grouping.codes, codes):
                used = dict(
                    zip(*(array.tolist() for array in np.unique(codes[taken], return_counts=True)), strict=True)
                )
                rooms = {value: min(room, grouping.most - used.get(value, 0)) for value, room in rooms.items()}
        return rooms
