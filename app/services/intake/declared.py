"""What the caller says about the columns of an upload; what is not said is inferred from the cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.candidates import Column, Kind, Role
from app.services.intake.findings import Findings
from app.services.intake.names import shown_name

DEFAULT_KEY = "key"


@dataclass(frozen=True)
class Declared:
    """The key column's name (default: a column called `key`, if there is one), roles and kinds by column name."""

    key: str | None = None
    roles: Mapping[str, Role] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)

    def role(self, name: str) -> Role:
        """The role of a column: as declared, else key for the key column, else feature."""
        if name in self.roles:
            return self.roles[name]
        return "key" if name == self._key_name else "feature"

    @property
    def _key_name(self) -> str | None:
        if self.key is not None:
            return self.key
        return None if "key" in self.roles.values() else DEFAULT_KEY


def declared_by(columns: Sequence[Column]) -> Declared:
    """How a later upload to the same study is read: with the roles and kinds the study already has."""
    named_key = next((column.name for column in columns if column.role == "key"), None)
    return Declared(
        key=named_key,
        roles={column.name: column.role for column in columns},
        kinds={column.name: column.kind for column in columns if column.role != "key"},
    )


def check_declared(declared: Declared, names: Sequence[str], findings: Findings) -> None:
    """Every declared name must be a column, and one column at most may be the key."""
    present = set(names)
    wanted = {*declared.roles, *declared.kinds, *([declared.key] if declared.key is not None else [])}
    for name in sorted(wanted - present):
        findings.error(
            "unknown-column", "declared, but there is no such column; check the spelling", column=shown_name(name)
        )
    if sum(declared.role(name) == "key" for name in names) > 1:
        findings.error("several-keys", "more than one column is declared as the key; keep one")
    if names and all(declared.role(name) != "feature" for name in names):
        findings.error("no-features", "no column is a feature; at least one is needed to tell candidates apart")
