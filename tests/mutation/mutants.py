"""Mutants of a module: small changes in the bodies of its functions, made by the operators of cosmic-ray."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from cosmic_ray.ast import Visitor, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).parents[2]
FOLDERS = ("app/services", "app/storage", "app/api")

_COMPARED = ("Eq_NotEq", "NotEq_Eq", "Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Is_IsNot", "IsNot_Is")
_COMPUTED = (
    *("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "Pow_Mul"),
    *("BitAnd_BitOr", "BitOr_BitAnd"),
)
_SIGNED = ("Delete_Not", "USub_UAdd", "Delete_USub", "Delete_Invert")
# Changes that people make by mistake. Cosmic-ray has more, most of which no program survives, such as `<` for `is`.
OPERATORS = (
    *("AddNot", "NumberReplacer", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceTrueWithFalse"),
    *("ReplaceFalseWithTrue", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ZeroIterationForLoop"),
    *(f"ReplaceComparisonOperator_{change}" for change in _COMPARED),
    *(f"ReplaceBinaryOperator_{change}" for change in _COMPUTED),
    *(f"ReplaceUnaryOperator_{change}" for change in _SIGNED),
)


@dataclass(frozen=True)
class Mutant:
    path: str  # within the repository
    line: int
    column: int
    operator: str
    occurrence: int  # of the operator in the file

    @cached_property
    def source(self) -> str:
        """The whole file, changed."""
        code = (ROOT / self.path).read_text()
        mutated = mutate_code(code, get_operator(f"core/{self.operator}")(), self.occurrence)
        assert mutated is not None, self
        return str(mutated)

    @cached_property
    def change(self) -> tuple[str, str]:
        """The lines that differ, before and after."""
        before, after = (ROOT / self.path).read_text().splitlines(), self.source.splitlines()
        pairs = [(old.strip(), new.strip()) for old, new in zip(before, after, strict=False) if old != new]
        return " ".join(old for old, _ in pairs), " ".join(new for _, new in pairs)

    @property
    def name(self) -> str:
        """What stays the same when lines are added above."""
        return f"{self.path}: {self.change[0]} → {self.change[1]}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.change[0]} → {self.change[1]}"


def sampled(seed: int, files: Sequence[Path] | None = None) -> list[Mutant]:
    """One mutant of each place that can be changed, in random order."""
    random, by_place = Random(seed), dict[tuple[str, int, int], list[Mutant]]()
    for file in sorted(files or every_file()):
        for mutant in mutants_of(file):
            by_place.setdefault((mutant.path, mutant.line, mutant.column), []).append(mutant)
    chosen = [random.choice(mutants) for _, mutants in sorted(by_place.items())]
    random.shuffle(chosen)
    return chosen


def every_file() -> list[Path]:
    return [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]


def mutants_of(file: Path) -> Iterator[Mutant]:
    """All mutants in bodies of functions. (Signatures, class bodies and constants cannot be replaced in a process.)

    `strict=True` of a zip is left alone: it says what is true anyway, and no test can miss it.
    """
    code, path = file.read_text(), str(file.relative_to(ROOT))
    lines, bodies = code.splitlines(), _bodies(code)
    tree = get_ast(code)
    for name in OPERATORS:
        places = _Places(get_operator(f"core/{name}")())
        places.walk(tree)
        for occurrence, (line, column) in enumerate(places.found):
            if line in bodies and not lines[line - 1][:column].endswith("strict="):
                yield Mutant(path, line, column, name, occurrence)


def _bodies(code: str) -> set[int]:
    """The lines that are in the body of a function, and in no signature of a function inside it."""
    nodes = ast.walk(ast.parse(code))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    bodies = {line for one in functions for line in range(one.body[0].lineno, (one.end_lineno or 0) + 1)}
    return bodies - {line for one in functions for line in range(one.lineno, one.body[0].lineno)}


class _Places(Visitor):
    """Where an operator can change something, in the order in which it counts its occurrences."""

    def __init__(self, operator: object) -> None:
        self.operator = operator
        self.found: list[tuple[int, int]] = []

    def visit(self, node: object) -> object:
        self.found += [start for start, _ in self.operator.mutation_positions(node)]  # type: ignore[attr-defined]
        return node
