"""The child process that draws molecules with RDKit for the server, and may die doing so.

It runs as `python -m app.services.drawing_child` and needs RDKit; `drawing` starts it. Each line of standard input is a
SMILES in JSON, and each line of standard output its picture, or why there is none.
"""

import json
import resource
import signal
import sys

from rdkit import Chem, RDLogger
from rdkit.Chem.Draw.rdMolDraw2D import MolDraw2DSVG, PrepareAndDrawMolecule

from app.services.drawing import HEIGHT, MOST_ATOMS, SECONDS, WIDTH

MEMORY = 1 << 30  # bytes that the process may allocate


def main() -> None:
    """Draw until standard input ends, which it does when the server ends."""
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]
    for line in sys.stdin:
        allow(SECONDS)
        answer = draw(json.loads(line))
        allow(0)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def allow(seconds: float) -> None:
    """End this process when it has computed for so long, whatever it is doing; 0 allows any time."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def draw(smiles: str) -> dict[str, str]:
    """The structure as SVG, on a transparent ground, in the colour of the text around it."""
    molecule = Chem.MolFromSmiles(smiles.strip())
    if molecule is None:  # another version of RDKit accepted it
        return {"refusal": "unreadable"}
    if molecule.GetNumAtoms() > MOST_ATOMS:
        return {"refusal": "large"}
    drawing = MolDraw2DSVG(WIDTH, HEIGHT)
    options = drawing.drawOptions()
    options.clearBackground = False  # type: ignore[assignment]
    options.useBWAtomPalette()
    PrepareAndDrawMolecule(drawing, molecule)
    drawing.FinishDrawing()
    return {"svg": str(drawing.GetDrawingText()).replace("#000000", "currentColor")}


if __name__ == "__main__":
    main()
