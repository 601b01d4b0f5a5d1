"""Pictures of molecules: the structure that a candidate's SMILES stands for, drawn by RDKit as SVG."""

from functools import lru_cache

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.errors import Finding, Invalid
from app.services.intake.molecules import must_have_rdkit
from app.services.resources import Resources
from app.services.use_cases.candidates import read_one
from app.services.use_cases.studies import find

PICTURES = 1000  # kept in memory; one takes about 10 kB


def read_smiles(
    connection: Connection, actor: Actor, resources: Resources, name: str, key: str, column: str
) -> str | None:
    """The SMILES of a candidate in a column of molecules, by default in the first; None if the study has none."""
    study = find(connection, actor, name)
    candidate = read_one(connection, actor, resources, name, key)
    molecules = [known.name for known in study.columns if known.fingerprint is not None]
    if column and column not in molecules:
        choices = f"Choose one of: {', '.join(molecules)}." if molecules else "This study has none."
        raise Invalid([Finding("no-molecules", f"This column does not hold molecules. {choices}")])
    return str(candidate.features[column or molecules[0]]) if molecules else None


@lru_cache(maxsize=PICTURES)
def draw(smiles: str, width: int, height: int) -> str:
    """The structure as SVG, on a transparent ground, in the colour of the text around it."""
    must_have_rdkit()
    from rdkit import Chem  # noqa: PLC0415  (the extra may be missing)
    from rdkit.Chem.Draw.rdMolDraw2D import MolDraw2DSVG, PrepareAndDrawMolecule  # noqa: PLC0415

    molecule = Chem.MolFromSmiles(smiles.strip())
    if molecule is None:  # another version of RDKit accepted it
        raise Invalid([Finding("bad-smiles", "This version of RDKit cannot read the molecule.")])
    drawing = MolDraw2DSVG(width, height)
    options = drawing.drawOptions()
    options.clearBackground = False  # type: ignore[assignment]
    options.useBWAtomPalette()
    PrepareAndDrawMolecule(drawing, molecule)
    drawing.FinishDrawing()
    svg = str(drawing.GetDrawingText())
    return svg.replace("#000000", "currentColor")
