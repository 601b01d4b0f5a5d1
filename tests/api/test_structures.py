"""Pictures of molecules: RDKit never runs in the server, and what it may draw there is bounded."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.domain.errors import Invalid
from app.services.drawing import MOST_ATOMS, TOO_LARGE, TOO_SLOW, StructureDrawer
from tests.api.lab import Lab

CHILD = """
import os, sys
for line in sys.stdin:
    {}
    sys.stdout.write('{{"svg": "drawn"}}' + chr(10))
    sys.stdout.flush()
"""


@pytest.fixture
def drawer() -> Iterator[StructureDrawer]:
    drawer = StructureDrawer()
    yield drawer
    drawer.close()


def test_the_process_that_serves_does_not_load_rdkit() -> None:
    script = "import sys; from app.services.drawing import StructureDrawer; drawer = StructureDrawer()"
    script += (
        "; picture = drawer.draw('CCO', 250, 200); drawer.close(); print('<path' in picture, 'rdkit' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["True", "False"]


def test_a_molecule_of_too_many_atoms_is_not_drawn_and_the_picture_says_so(drawer: StructureDrawer) -> None:
    assert TOO_LARGE in drawer.draw("C" * (MOST_ATOMS + 1), 250, 200)
    assert TOO_LARGE in drawer.draw("C" * 1000, 250, 200)
    assert TOO_LARGE not in drawer.draw("C" * MOST_ATOMS, 250, 200)


def test_every_size_is_the_same_drawing(drawer: StructureDrawer) -> None:
    small, large = drawer.draw("CCO", 60, 50), drawer.draw("CCO", 900, 1000)
    assert "width='60px' height='50px' viewBox='0 0 250 200'" in small
    assert "width='900px' height='1000px' viewBox='0 0 250 200'" in large
    assert small.replace("60px", "900px").replace("50px", "1000px") == large


def test_a_molecule_is_drawn_once_whatever_sizes_are_asked_for(tmp_path: Path) -> None:
    count = f"open({str(tmp_path / 'drawn')!r}, 'a').write(line)"
    drawer = StructureDrawer([sys.executable, "-c", CHILD.format(count)])
    for width in range(100, 120):
        drawer.draw("CCO", width, 200)
    drawer.close()
    assert (tmp_path / "drawn").read_text() == '"CCO"\n'


def test_a_child_that_dies_costs_one_picture(tmp_path: Path) -> None:
    die = "'N' in line and sys.exit(1)"
    drawer = StructureDrawer([sys.executable, "-c", CHILD.format(die)])
    assert [drawer.draw(smiles, 250, 200) for smiles in ("CC", "CCC")] == ["drawn", "drawn"]
    assert TOO_SLOW in drawer.draw("CN", 250, 200)
    assert drawer.draw("CCO", 250, 200) == "drawn"
    drawer.close()


def test_the_child_ends_when_it_has_computed_for_too_long() -> None:
    script = "from app.services.drawing_child import allow\nallow(0.01)\nwhile True: pass"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGPROF


def test_what_rdkit_cannot_read_is_refused(drawer: StructureDrawer) -> None:
    with pytest.raises(Invalid):
        drawer.draw("c1ccc", 250, 200)
    assert "<path" in drawer.draw("CCO", 250, 200)


def test_other_requests_are_answered_while_a_molecule_is_drawn(lab: Lab, tmp_path: Path) -> None:
    headers = {"Content-Type": "text/csv"}
    lab.client.put(lab.path, json={})
    stored = lab.client.put(
        f"{lab.path}/candidates", content="key,mol\nA,CCO\nB,CC\n", params={"smiles": "mol"}, headers=headers
    )
    assert stored.status_code == 201
    begun, may_go_on = tmp_path / "begun", tmp_path / "go"
    wait = f"open({str(begun)!r}, 'w')\n    while not os.path.exists({str(may_go_on)!r}): pass"
    resources = lab.client.app.state.resources  # type: ignore[attr-defined]
    resources.structures._command = [sys.executable, "-c", CHILD.format(wait)]
    with ThreadPoolExecutor(1) as threads:
        picture = threads.submit(lab.client.get, f"{lab.path}/structures/A")
        while not begun.exists():
            assert not picture.done(), picture.result().text
        assert lab.client.get(lab.path).status_code == 200
        assert not picture.done()
        may_go_on.touch()
        assert picture.result().text == "drawn"
