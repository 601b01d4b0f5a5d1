"""Studies in which something of everything has happened, for archives that are then damaged."""

from dataclasses import replace

from tests.api import test_several_objectives as several_objectives
from tests.api.lab import Lab, truth

EARLIER = ("DMF-20", "THF-50", "MeOH-90", "THF-90")


def everything(lab: Lab) -> Lab:
    """A fork in which something of everything happens that can happen to a study of one objective."""
    _earlier_study(lab)
    origin = replace(lab, study=f"{lab.study}-origin").begin()
    origin.work(1, min_size=2, max_size=2)
    _did(lab.client.post(f"{origin.path}/fork", json={"name": lab.study, "reason": "what if"}).is_success)
    _did(lab.client.put(f"{lab.path}/borrowed", json={"from": [f"{lab.study}-earlier"]}).is_success)
    _add_candidates(lab)
    lab.work(1, min_size=2, max_size=2)
    lab.correct(1, 0.25)
    lab.retract(2)
    lab.switch_off("DMF-20")
    lab.change(description="later")
    _reserve(lab)
    _delete_and_restore(lab)
    swapped, failed, abandoned = (one["suggestion"] for one in lab.batch(min_size=3, max_size=3)["suggestions"])
    _did(lab.client.post(f"{lab.path}/suggestions/{swapped}/swap", json={"reason": "not in stock"}).is_success)
    lab.report(suggestion=failed, failed={"reason": "broke"})
    lab.report(suggestion=abandoned, abandoned={"reason": "no time"})
    lab.report(candidate="THF-20", value=0.5, ref="LAB-1", note="clear")
    _did(lab.client.post(f"{lab.path}/fork", json={"name": f"{lab.study}-fork"}).is_success)
    return lab


def several_quantities(lab: Lab) -> Lab:
    """Two objectives and a constraint, with results of which some lack a quantity."""
    several_objectives.begin(lab)
    several_objectives.work(lab, 1)
    lab.report(candidate="DMF-20", values={"yield": 0.1})
    lab.report(candidate="THF-20", values={"yield": 0.2, "cost": {"value": 0.3, "std": 0.1}})
    lab.send_correction(1, {"values": {"yield": 0.4, "cost": 0.2, "purity": 0.9}})
    return lab


def _earlier_study(lab: Lab) -> None:
    earlier = replace(lab, study=f"{lab.study}-earlier").begin()
    lines = [{"candidate": key, "value": truth(key)} for key in EARLIER]
    _did(earlier.send({"observations": lines}).is_success)


def _add_candidates(lab: Lab) -> None:
    more, headers = "key,temperature,solvent\nEtOH-20,20,EtOH\n", {"Content-Type": "text/csv"}
    _did(lab.client.post(f"{lab.path}/candidates", content=more, headers=headers).is_success)


def _reserve(lab: Lab) -> None:
    reserved = {"keys": ["THF-30", "THF-40"], "worker": "bench-3"}
    _did(lab.client.post(f"{lab.path}/reservations", json=reserved).is_success)
    _did(lab.client.delete(f"{lab.path}/reservations/THF-30").is_success)


def _delete_and_restore(lab: Lab) -> None:
    _did(lab.client.delete(lab.path, params={"confirm": lab.study}).is_success)
    _did(lab.client.post(f"{lab.path}/restoration", json={}).is_success)


def _did(happened: bool) -> None:
    if not happened:
        raise AssertionError("A step of the story was refused.")
