"""Who did what is told by name to everybody who may read the study, and to nobody else."""

import pytest
from fastapi.testclient import TestClient

from tests.api.conftest import problem
from tests.api.lab import Lab


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def make(admin: TestClient, name: str, role: str, *studies: str) -> tuple[str, dict[str, str]]:
    """The id of a new key, and the header that it is used with."""
    made = admin.post("/v1/keys", json={"name": name, "role": role, "studies": list(studies)}).json()
    return made["id"], bearer(made["key"])


@pytest.mark.parametrize("role", ["technician", "scientist", "dashboard"])
def test_results_and_events_name_who_sent_them(admin: TestClient, lab: Lab, role: str) -> None:
    lab.begin()
    ada, header = make(admin, "Ada Weber", "technician", lab.study)
    _, reader = make(admin, "reader", role, lab.study)
    assert lab.send({"candidate": "MeOH-40", "value": 0.2}, headers=header).is_success
    for part in ("observations", "observations/1", "events"):
        page = admin.get(f"{lab.path}/{part}", headers=reader).json()
        assert page["actors"][ada] == "Ada Weber", part
        assert set(page["actors"]) == {one["actor"] for one in page.get("observations") or page["events"]}


def test_a_name_in_another_study_stays_there(admin: TestClient, lab: Lab) -> None:
    lab.begin()
    admin.put("/v1/studies/other", json={})
    ada, header = make(admin, "Ada Weber", "technician", lab.study)
    lab.send({"candidate": "MeOH-40", "value": 0.2}, headers=header)
    _, stranger = make(admin, "stranger", "scientist", "other")
    problem(admin.get(f"{lab.path}/observations", headers=stranger), 404, "study-not-found")
    assert ada not in admin.get("/v1/studies/other/events", headers=stranger).json()["actors"]


def test_a_fork_names_whom_its_study_names(admin: TestClient, lab: Lab) -> None:
    lab.begin()
    ada, header = make(admin, "Ada Weber", "technician", lab.study)
    lab.send({"candidate": "MeOH-40", "value": 0.2}, headers=header)
    assert admin.post(f"{lab.path}/fork", json={"name": "fork"}).is_success
    assert admin.get("/v1/studies/fork/observations").json()["actors"] == {ada: "Ada Weber"}
