"""Pictures of molecules, drawn in a child process (`drawing_child`).

RDKit holds the interpreter while it draws, and a strange molecule may take it long or break it. So it never runs in the
server itself, and what it may draw is bounded: so many atoms, so many seconds of processor time. Instead of a picture
that is beyond a bound there is one that says so.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from threading import Lock

from app.domain.errors import Finding, Invalid
from app.services.intake.molecules import must_have_rdkit

MOST_ATOMS = 150  # without hydrogen; a picture of so many takes 75 kB
SECONDS = 2.0  # of processor time for one picture
PICTURES = 500  # kept in memory; one of a usual molecule takes about 10 kB
WIDTH, HEIGHT = 250, 200  # of every drawing; what is shown is scaled

COMMAND = (sys.executable, "-I", "-m", "app.services.drawing_child")
SIZE = f"width='{WIDTH}px' height='{HEIGHT}px'"
TOO_LARGE = f"More than {MOST_ATOMS} atoms: not drawn"
TOO_SLOW = "Too complex to draw"


class StructureDrawer:
    """Draws with one child process, which begins with the first picture and begins anew when it has died."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._command = command
        self._child: subprocess.Popen[str] | None = None
        self._lock = Lock()  # one picture at a time
        self._kept = lru_cache(maxsize=PICTURES)(self._drawn)

    def draw(self, smiles: str, width: int, height: int) -> str:
        """The structure as SVG; each molecule is drawn once, whatever sizes are asked for."""
        must_have_rdkit()
        return self._kept(smiles).replace(SIZE, f"width='{width}px' height='{height}px'", 1)

    def close(self) -> None:
        """End the child, also while it draws."""
        if self._child is not None:
            self._child.kill()
        with self._lock:
            self._forget()

    def _drawn(self, smiles: str) -> str:
        with self._lock:
            line = self._ask(smiles)
        if not line:
            return _placeholder(TOO_SLOW)
        answer = json.loads(line)
        if answer.get("refusal") == "unreadable":
            raise Invalid([Finding("bad-smiles", "This version of RDKit cannot read the molecule.")])
        return str(answer["svg"]) if "svg" in answer else _placeholder(TOO_LARGE)

    def _ask(self, smiles: str) -> str:
        """The line that the child answers with; empty if it died."""
        if self._child is None or self._child.poll() is not None:
            self._child = self._start()
        stdin, stdout = self._child.stdin, self._child.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("The child has no pipes.")
        try:
            stdin.write(json.dumps(smiles) + "\n")
            stdin.flush()
            line = stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self._forget()
        return line

    def _start(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(  # noqa: S603  (the command is the server's own)
            self._command,
            env={},
            text=True,
            encoding="utf-8",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _forget(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.communicate()  # waits for its end and closes the pipes


def _placeholder(words: str) -> str:
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' {SIZE} viewBox='0 0 {WIDTH} {HEIGHT}'>"
        f"<text x='{WIDTH // 2}' y='{HEIGHT // 2}' text-anchor='middle' font-family='sans-serif' font-size='14' "
        f"fill='currentColor'>{words}</text></svg>"
    )
