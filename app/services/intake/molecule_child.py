"""The child process that reads SMILES with RDKit for the server, and may die doing so.

It runs as `python -m app.services.intake.molecule_child` and needs RDKit; `molecules` starts it. Standard input has the
request and standard output the answer, both JSON.
"""

import json
import sys
from typing import Any

from rdkit import Chem, RDLogger, rdBase
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

from app.services.intake.children import limit

MEMORY = 2 << 30  # bytes that the process may allocate
SECONDS = 120.0


def main() -> None:
    """Read every SMILES of the request."""
    limit(MEMORY, SECONDS)
    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]
    request = json.load(sys.stdin)
    generator = GetMorganGenerator(radius=request["radius"], fpSize=request["counts"], includeChirality=True)
    molecules = [_read(smiles, generator) for smiles in request["smiles"]]
    json.dump({"rdkit": rdBase.rdkitVersion, "molecules": molecules}, sys.stdout)


def _read(smiles: str, generator: Any) -> dict[str, Any]:
    """The members of a `ReadMolecule`; none for what is no molecule."""
    molecule = Chem.MolFromSmiles(smiles.strip())
    if molecule is None or molecule.GetNumAtoms() == 0:
        return {}
    stereo = list(Chem.FindPotentialStereo(molecule))
    stated = sum(element.specified == Chem.StereoSpecified.Specified for element in stereo)
    return {
        "canonical": Chem.MolToSmiles(molecule),
        "fragments": len(Chem.GetMolFrags(molecule)),
        "stereo": stated,
        "open_stereo": len(stereo) - stated,
        "counts": generator.GetCountFingerprint(molecule).GetNonzeroElements(),
    }


if __name__ == "__main__":
    main()
