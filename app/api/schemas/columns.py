"""The columns of a candidate list on the wire."""

from pydantic import Field

from app.api.schemas.shape import Shape
from app.domain.candidates import ColumnKind, ColumnRole, Expense


class FingerprintOut(Shape):
    """How molecules are compared: by the counts of their Morgan fingerprints."""

    radius: int = Field(description="How many bonds a counted fragment reaches from its centre.", examples=[2])
    counts: int = Field(description="How many counts a fingerprint has.", examples=[512])
    rdkit: str = Field(
        description="The version of RDKit that made the first ones. They are stored: no batch depends on it again.",
        examples=["2026.09.1"],
    )


class ColumnOut(Shape):
    """A column of the candidate list, as the study has it now.

    A text feature gains levels when candidates are added.
    """

    name: str = Field(examples=["ligand"])
    kind: ColumnKind = Field(description="What its cells are.", examples=["text"])
    role: ColumnRole = Field(
        description="What it is for: it names the candidate, it is modelled, or it is only shown.", examples=["feature"]
    )
    levels: tuple[str, ...] = Field(description="Of a text feature, in order of first appearance.")
    expense: Expense | None = Field(default=None, description="Whether it says what one measurement takes.")
    fingerprint: FingerprintOut | None = Field(default=None, description="Of a feature that holds molecules as SMILES.")
