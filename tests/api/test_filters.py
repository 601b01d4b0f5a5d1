"""The filter language: conditions as people write them."""

from typing import Any

import pytest

from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.conftest import on_sqlite

LIST = """key,temperature,solvent,dry,price,maker,odd=name
A1,20,DMF,true,1.5,Acme,0
A2,40,THF,false,,"Acme, Inc",1
A3,60,DMF,true,3,,0
A4,80,MeOH,false,4.25,Bolt,1
A5,-10,in (x),true,9,Bolt,0
"""

MEETING: dict[str, str] = {
    "solvent=DMF": "A1 A3",
    "solvent = DMF": "A1 A3",
    'solvent == "DMF"': "A1 A3",
    "SOLVENT = DMF": "A1 A3",
    "solvent != DMF": "A2 A4 A5",
    "solvent <> 'DMF'": "A2 A4 A5",
    "solvent=dmf": "",
    "solvent in (DMF, THF)": "A1 A2 A3",
    "solvent IN (DMF)": "A1 A3",
    "solvent not in (DMF, MeOH)": "A2 A5",
    "solvent in ('in (x)')": "A5",
    "solvent=in (x)": "A5",
    "temperature >= 60": "A3 A4",
    "temperature≥60": "A3 A4",
    "temperature<−5": "A5",
    "temperature=20..60": "A1 A2 A3",
    "temperature = -10..20": "A1 A5",
    "20 < temperature <= 60": "A2 A3",
    "temperature in (20, 80)": "A1 A4",
    "temperature != 20": "A2 A3 A4 A5",
    "dry=true": "A1 A3 A5",
    "dry = no": "A2 A4",
    "price < 4": "A1 A3",
    "price != 3": "A1 A4 A5",
    "price is missing": "A2",
    "price is not missing": "A1 A3 A4 A5",
    'maker = "Acme, Inc"': "A2",
    'maker in ("Acme, Inc", Bolt)': "A2 A4 A5",
    'maker != "Acme and price > 3"': "A1 A2 A4 A5",
    "maker is missing": "A3",
    "maker not in (Bolt)": "A1 A2",
    "odd=name=1": "A2 A4",
    "`odd=name`=1": "A2 A4",
    "measured": "A1 A2",
    "not measured": "A3 A4 A5",
    "pending": "A4",
    " Not  Pending ": "A1 A2 A3 A5",
    "available": "A1 A2 A4 A5",
    "not available": "A3",
}


@pytest.fixture
def lab_with_marks(lab: Lab) -> Lab:
    made = lab.client.put(lab.path, json={})
    headers, roles = {"Content-Type": "text/csv"}, {"attribute": ["price", "maker"]}
    uploaded = lab.client.put(f"{lab.path}/candidates", content=LIST, headers=headers, params=roles)
    assert (made.status_code, uploaded.status_code) == (201, 201), uploaded.text
    lab.send({"observations": [{"candidate": "A1", "value": 1.0}, {"candidate": "A2", "value": 2.0}]})
    lab.switch_off("A3")
    lab.batch(include=["A4"], max_size=1)
    return lab


def found(lab: Lab, *conditions: str) -> str:
    page: dict[str, Any] = lab.get("candidates", where=list(conditions))
    return " ".join(candidate["key"] for candidate in page["candidates"])


@on_sqlite
def test_conditions_mean_what_people_mean(lab_with_marks: Lab) -> None:
    assert {condition: found(lab_with_marks, condition) for condition in MEETING} == MEETING


@on_sqlite
def test_all_conditions_must_hold(lab_with_marks: Lab) -> None:
    assert found(lab_with_marks, "dry=true", "not measured", "temperature>0") == "A3"


@pytest.mark.parametrize(
    ("condition", "column"),
    [
        ("temperature", None),
        ("nothing=1", None),
        ("solvent<3", "solvent"),
        ("1<=solvent<=3", "solvent"),
        ("temperature=warm", "temperature"),
        ("temperature=1..x", "temperature"),
        ("dry=maybe", "dry"),
        ("solvent in ()", "solvent"),
        ("solvent=DMF and temperature>30", None),
        ("not measured or 20 < temperature <= 60", None),
        ("", None),
    ],
)
@on_sqlite
def test_a_wrong_condition_is_refused_with_what_to_write(lab: Lab, condition: str, column: str | None) -> None:
    headers = {"Content-Type": "text/csv"}
    lab.client.put(lab.path, json={})
    lab.client.put(f"{lab.path}/candidates", content=LIST, headers=headers, params={"attribute": ["price", "maker"]})
    refused = problem(lab.client.get(f"{lab.path}/candidates", params={"where": condition}), 422, "invalid-input")
    [finding] = refused["errors"]
    assert (finding["code"], finding.get("column")) == ("where", column)
