"""Molecules: a column of SMILES is compared by structures, drawn on demand, and replayed without RDKit."""

from collections.abc import Callable
from typing import Any

import pytest
from httpx2 import Response

from app.services.intake import molecules
from app.storage.candidate_set import blocks
from app.storage.studies import find
from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.api.test_archives import Elsewhere, elsewhere, take_in
from tests.reliability.hostile.archives import resealed

__all__ = ["elsewhere"]  # a fixture

ALCOHOLS = [
    "CO",
    "CCO",
    "CCCO",
    "CCCCO",
    "CCCCCO",
    "CC(C)O",
    "OCCO",
    "c1ccccc1O",
    "Cc1ccccc1O",
    "C1CCCCC1O",
    "CC(O)C(=O)O",
]
LIST = "key,alcohol,heat\n" + "".join(f"M{n},{smiles},{20 + n}\n" for n, smiles in enumerate(ALCOHOLS))
CSV = {"Content-Type": "text/csv"}


def send(lab: Lab, content: str, method: str = "PUT", **params: Any) -> Response:
    return lab.client.request(method, f"{lab.path}/candidates", content=content, headers=CSV, params=params)


@pytest.fixture
def chemistry(lab: Lab) -> Lab:
    assert lab.client.put(lab.path, json={}).status_code == 201
    assert send(lab, LIST, smiles="alcohol").status_code == 201
    return lab


def measure(lab: Lab, number: int) -> None:
    assert lab.report(candidate=f"M{number}", value=float(len(ALCOHOLS[number]))).status_code == 201


def test_a_study_of_molecules_asks_and_replays(chemistry: Lab) -> None:
    column = chemistry.client.get(chemistry.path).json()["columns"][1]
    assert (column["role"], column["kind"], column["levels"]) == ("feature", "text", ALCOHOLS)
    assert (column["fingerprint"]["radius"], column["fingerprint"]["counts"]) == (2, 512)
    for number in range(5):
        measure(chemistry, number)
    batch = chemistry.batch(max_size=3)
    assert batch["fit"]["form"] == "molecules + main effects"
    assert chemistry.replays(1)
    assert chemistry.is_sound()


def test_a_molecule_in_many_candidates_is_shown_with_its_levels_in_the_diagnostics(lab: Lab) -> None:
    lab.client.put(lab.path, json={})
    rows = [(smiles, heat) for smiles in ALCOHOLS[:3] for heat in range(8)]
    content = "key,alcohol,heat\n" + "".join(f"M{n},{smiles},{heat}\n" for n, (smiles, heat) in enumerate(rows))
    assert send(lab, content, smiles="alcohol").status_code == 201
    for number in (0, 3, 9, 12, 17, 20, 22):
        lab.report(candidate=f"M{number}", value=len(rows[number][0]) + rows[number][1] / 10)
    effects = {effect["name"]: effect for effect in lab.get("diagnostics")["columns"]}
    assert [point["value"] for point in effects["alcohol"]["slice"]] == ALCOHOLS[:3]
    assert len(effects["heat"]["slice"]) > 3
    means = [point["mean"] for point in effects["alcohol"]["slice"]]
    assert means == sorted(means)


def test_nothing_but_new_molecules_and_pictures_needs_rdkit(chemistry: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    measure(chemistry, 1)
    first = chemistry.batch(max_size=2)
    resources = chemistry.client.app.state.resources  # type: ignore[attr-defined]
    resources.models.clear()
    monkeypatch.setattr(molecules, "find_spec", lambda _name: None)
    assert chemistry.replays(first["number"])
    measure(chemistry, 2)
    chemistry.batch("v", max_size=2)
    refused = problem(chemistry.client.get(f"{chemistry.path}/structures/M10"), 422, "invalid-input")
    assert refused["errors"][0]["code"] == "chem-not-installed"
    added = send(chemistry, "key,alcohol,heat\nN1,CCCCCCO,40\n", "POST")
    assert "nextbatch-server[chem]" in problem(added, 422, "invalid-input")["errors"][0]["message"]


def test_molecules_that_are_none_are_named_by_row(lab: Lab) -> None:
    lab.client.put(lab.path, json={})
    bad = "key,mol\nA,CCO\nB,c1ccc\nC,C(C)(C)(C)(C)C\nD,not a molecule\nE,CC\n"
    found = problem(send(lab, bad, smiles="mol"), 422, "invalid-candidates")["errors"]
    assert [(finding["code"], finding["row"], finding["column"]) for finding in found] == [
        ("bad-smiles", row, "mol") for row in (3, 4, 5)
    ]


def test_what_a_chemist_wants_to_know_is_a_warning(lab: Lab) -> None:
    lab.client.put(lab.path, json={})
    rows = ["OCC", "C(O)C", "[Na+].[O-]C(C)=O", "C[C@H](N)C(=O)O", "CC(N)C(=O)O"]
    content = "key,mol\n" + "".join(f"A{n},{smiles}\n" for n, smiles in enumerate(rows))
    answer = send(lab, content, smiles="mol")
    assert answer.status_code == 201
    warned = {finding["code"]: finding for finding in answer.json()["warnings"]}
    assert (warned["same-molecule"]["row"], warned["salt"]["row"], warned["open-stereo"]["row"]) == (3, 4, 6)
    assert "row 2" in warned["same-molecule"]["message"]
    assert "looks-like-identifier" not in warned


def test_stereoisomers_differ_and_spellings_do_not(lab: Lab, client_arrays: Any) -> None:
    lab.client.put(lab.path, json={})
    rows = ["OCC", "C(O)C", "C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"]
    send(lab, "key,mol\n" + "".join(f"A{n},{smiles}\n" for n, smiles in enumerate(rows)), smiles="mol")
    counts = client_arrays("mol")
    assert (counts[0] == counts[1]).all()
    assert (counts[2] != counts[3]).any()


@pytest.fixture
def client_arrays(lab: Lab) -> Any:
    def counts(column: str) -> Any:
        resources = lab.client.app.state.resources  # type: ignore[attr-defined]
        with resources.database.read() as connection:
            *_, last = blocks(connection, find(connection, lab.study))
            return resources.arrays.load(connection, last.arrays.fingerprints[column])

    return counts


def test_later_molecules_keep_the_fingerprints_of_the_earlier_ones(chemistry: Lab, client_arrays: Any) -> None:
    before = client_arrays("alcohol")
    assert send(chemistry, "key,alcohol,heat\nN1,CCCCCCO,40\nN2,CO,41\n", "POST").status_code == 201
    after = client_arrays("alcohol")
    assert after.shape == (len(ALCOHOLS) + 1, 512)
    assert (after[:-1] == before).all()
    bad = problem(send(chemistry, "key,alcohol,heat\nN3,CCO,40\nN4,C1CC,41\n", "POST"), 422, "invalid-candidates")
    assert bad["errors"][0]["row"] == 3
    chemistry.batch(max_size=2)
    assert chemistry.replays(1)
    assert chemistry.is_sound()


def test_a_molecule_that_an_earlier_upload_spells_otherwise_is_a_warning(chemistry: Lab) -> None:
    added = send(chemistry, "key,alcohol,heat\nN1,CCCCCCO,40\nN2,C(O)C,41\nN3,OCC,42\n", "POST")
    [found] = [finding for finding in added.json()["warnings"] if "already" in finding["message"]]
    assert (found["code"], found["row"], found["column"]) == ("same-molecule", 3, "alcohol")
    assert "2 molecules" in found["message"]
    assert found["message"].endswith("as CCO.")


def test_an_earlier_molecule_with_the_same_fingerprint_is_not_taken_for_the_same(lab: Lab) -> None:
    """Two rings of 300 and 301 atoms look alike from every atom, and counts end at 255."""
    lab.client.put(lab.path, json={})
    rings = ["C1" + "C" * length + "C1" for length in (298, 299)]
    assert send(lab, f"key,mol\nA,{rings[0]}\nB,CC\n", smiles="mol").status_code == 201
    added = send(lab, f"key,mol\nC,{rings[1]}\n", "POST")
    assert added.status_code == 201
    assert "same-molecule" not in [finding["code"] for finding in added.json()["warnings"]]


def test_a_structure_is_a_picture_that_runs_nothing(chemistry: Lab) -> None:
    picture = chemistry.client.get(f"{chemistry.path}/structures/M7", params={"width": 300})
    assert picture.headers["Content-Type"].startswith("image/svg+xml")
    assert picture.text.lstrip().startswith("<?xml")
    assert "<script" not in picture.text
    assert "default-src 'none'" in picture.headers["Content-Security-Policy"]
    path = f"{chemistry.path}/structures/M7"
    problem(chemistry.client.get(path, params={"column": "heat"}), 422, "invalid-input")
    problem(chemistry.client.get(f"{chemistry.path}/structures/none"), 404, "candidate-not-found")


def test_a_study_without_molecules_has_no_pictures(lab: Lab) -> None:
    lab.begin()
    assert lab.client.get(f"{lab.path}/structures/DMF-20").status_code == 204


def test_a_column_that_is_not_there_is_refused(lab: Lab) -> None:
    lab.client.put(lab.path, json={})
    assert problem(send(lab, LIST, smiles="alcool"), 422, "invalid-candidates")["errors"][0]["column"] == "alcool"


def test_molecules_move_to_a_server_without_rdkit(
    chemistry: Lab, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(chemistry, 1)
    chemistry.batch(max_size=2)
    content = chemistry.client.get(f"{chemistry.path}/archive").content
    monkeypatch.setattr(molecules, "find_spec", lambda _name: None)
    assert take_in(elsewhere.lab, content).status_code == 201
    assert elsewhere.lab.replays(1)
    assert elsewhere.lab.is_sound()


def other_length(event: dict[str, Any]) -> None:
    if event["type"] == "candidates-uploaded":
        event["payload"]["columns"][1]["fingerprint"]["counts"] = 256


def no_fingerprints(event: dict[str, Any]) -> None:
    if event["type"] == "candidates-uploaded":
        del event["payload"]["block"]["arrays"]["fingerprints"]


@pytest.mark.parametrize("forge", [other_length, no_fingerprints])
def test_an_archive_whose_fingerprints_do_not_fit_its_columns_is_refused(
    chemistry: Lab, elsewhere: Elsewhere, forge: Callable[[dict[str, Any]], None]
) -> None:
    content = chemistry.client.get(f"{chemistry.path}/archive").content
    refused = problem(take_in(elsewhere.lab, resealed(content, forge)), 422, "invalid-input")
    assert "fingerprints" in refused["errors"][0]["message"]
