"""The simulated labs: figures by hand, and a run that is resumed."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.engine import rng_at
from app.engine.auto import Observed
from benchmarks.labs import elsewhere
from benchmarks.labs.__main__ import main
from benchmarks.labs.contestants import contestants
from benchmarks.labs.moments import SHARES, Moment
from benchmarks.labs.page import write
from benchmarks.labs.plots import plot_labs
from benchmarks.labs.policies import CONFIRM, Auto, Confirming, Random, common_start
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.records import Record
from benchmarks.labs.simulation import simulate
from benchmarks.labs.summary import against, experiments, per_policy, per_table, shared, speed, standings
from benchmarks.labs.tables import Table, load
from benchmarks.lines import append, read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table of 40 candidates with a word and a number, and two single measurements of each."""
    rows = [(word, i, 10 * ("abcd".index(word) == 2) + i) for word in "abcd" for i in range(10)]
    lines = [f"{word},{i},{y}" for word, i, y in rows]
    singles = [f"{word},{i}.0,{y + e}" for word, i, y in rows for e in (-1, 1)]
    for name, body in (("toy", lines), ("toy_replicates", singles)):
        with gzip.open(tmp_path / f"{name}.csv.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(["word,i,y", *body]) + "\n")
    return tmp_path


@pytest.fixture
def table(folder: Path) -> Table:
    return load(folder, "toy", noisy=True)


def test_a_table_has_words_numbers_and_single_measurements(table: Table) -> None:
    assert [(column.name, column.kind) for column in table.columns] == [("word", "text"), ("i", "number")]
    assert table.numbers.shape == table.codes.shape == (40, 1)
    assert table.replicates is not None
    assert sorted(table.replicates[29].tolist()) == [18.0, 20.0]
    order = np.arange(40)[::-1]
    assert table.permuted(order).truth[0] == table.truth[39]


def test_figures_are_shares_of_the_range_and_of_random(table: Table) -> None:
    spent, values = [(9.0, 9.0), (1.0, 0.5), (3.0, 0.7)], [15.0, 21.0, 8.0]
    record = Record.of(table, Protocol(), 0, "by hand", np.array([0, 28, 28]), values, 0, spent)
    assert record.simple == pytest.approx(1 / 19)
    assert record.recommended == 1
    assert record.cumulative == pytest.approx((19 + 1 + 1) / 3 / (19 - table.truth.mean()))
    assert (record.seconds, record.processor) == (2, pytest.approx(0.6))
    assert record.regrets == pytest.approx((1, 1 / 19, 1 / 19), abs=1e-6)
    assert (record.rounds, record.average) == (3, 1)  # 15 is more than (21 + 8)/2
    assert not record.hit


@pytest.mark.parametrize("noisy", [False, True])
def test_auto_mode_finds_the_best_of_a_small_table(table: Table, noisy: bool) -> None:
    protocol = Protocol(20, 4, noisy)
    record = simulate(table, protocol, 0, "auto", Auto)
    assert record.simple <= 1 / 19
    assert record.cumulative < simulate(table, protocol, 0, "random", Random).cumulative
    again = simulate(table, protocol, 0, "auto", Auto)
    assert (again.cumulative, again.recommended) == (record.cumulative, record.recommended)


def test_the_last_results_confirm_the_best_few(table: Table) -> None:
    measured = np.append(np.arange(0, 40, 3), 27)
    truth = table.truth[measured] + np.append(np.zeros(14), 1.0)  # the repeat differs: there is noise
    late, counts = Confirming(table, Protocol(20, 4, noisy=True), 0), np.bincount(measured, minlength=40)
    again = late.ask(Observed.of(40, measured, truth), 4)
    assert 0 < len(again) <= 4
    assert (counts[again] > 0).all()
    assert (counts + np.bincount(again, minlength=40)).max() <= CONFIRM
    early = Confirming(table, Protocol(40, 4, noisy=True), 0).ask(Observed.of(40, measured, truth), 4)
    assert (counts[early] == 0).any()


def test_ours_through_the_client_is_auto_mode(table: Table) -> None:
    protocol = Protocol(20, 4)
    with contestants() as make:
        served = simulate(table, protocol, 0, "nextbatch", make["nextbatch"])
    assert served.regrets == simulate(table, protocol, 0, "auto", Auto).regrets
    assert served.processor > 0


@pytest.mark.parametrize("noisy", [False, True])
def test_ours_can_begin_where_the_peers_do(table: Table, noisy: bool) -> None:
    protocol = Protocol(20, 4, noisy)
    with contestants() as make:
        record = simulate(table, protocol, 0, "same start", make["nextbatch, same start"])
    shuffled = table.permuted(rng_at(0, "labs toy", 0).permutation(40))
    regrets = (19 - shuffled.truth) / 19
    assert record.regrets[:5] == pytest.approx(regrets[common_start(shuffled, protocol, 0)], abs=1e-6)
    assert record.simple <= 1 / 19


def test_a_run_goes_on_where_it_was(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "runs.jsonl"
    for seeds in ("0:1", "0:2", "0:2"):
        main(["run", *f"--data {folder} --out {out} --tables toy --policies random --seeds {seeds}".split()])
    assert [record.seed for record in read(out, Record)] == [0, 1]
    assert "| random | T60 q5 | 1 | 2 |" in capsys.readouterr().out


def test_what_auto_mode_says_is_shown_beside_the_regrets(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moments = folder / "moments.jsonl"
    append(moments, Moment("toy", 0, 20, (0.7,) * len(SHARES), 0.3, 0.1, 0.2, 0.5, False, 0.4, True, 0.25, True))
    main(["table", *f"--out {folder / 'none.jsonl'} --calibration {moments}".split()])
    shown = capsys.readouterr().out
    assert "| 20 | 1 | 1 | 0.700 | 0.700 | 0.700 |" in shown
    assert "| of them wrong | 0 | 0 | 1 | 0 | 0 |" in shown


def test_the_page_is_filled_from_the_records(folder: Path) -> None:
    out, page = folder / "runs.jsonl", folder / "labs.md"
    main(["run", *f"--data {folder} --out {out} --tables toy --policies random auto --seeds 0:2".split()])
    page.write_text("<!-- T60 q5 means -->\nold\n<!-- end -->\n<!-- T60 q5 speed, library -->\nold\n<!-- end -->\n")
    main(["page", "--out", str(out), "--pages", str(folder)])
    means, _, library = page.read_text().partition("<!-- T60 q5 speed, library -->")
    assert "| random | T60 q5 | 1 | 2 |" in means
    assert "| auto | T60 q5 | 1 | 2 |" in means
    assert "| table | auto, s |" in library
    assert "old" not in means + library
    assert (folder / "labs-T60-q5.svg").exists()


def test_a_quick_run_is_with_whoever_is_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.peers.link.ENVIRONMENTS", folder / "nobody")
    main(["--quick", *f"--data {folder} --out {folder / 'quick.jsonl'} --tables toy --seeds 0:1".split()])
    shown = capsys.readouterr().out
    assert "| auto | T60 q5 | 1 | 1 |" in shown
    assert "| T60 q5 | random | 1 |" in shown
    assert "BayBE" not in shown


def test_tables_from_elsewhere_are_shown_apart(tmp_path: Path) -> None:
    plain = [record_of("auto", table, 0, simple) for table, simple in (("agnp", 0.25), ("suzuki", 0.75))]
    records = [replace(record, regrets=(0.9, record.simple), processor=0.1) for record in plain]
    (tmp_path / "labs.md").write_text(
        "<!-- T60 q5 simple -->\n<!-- end -->\n<!-- T60 q5 elsewhere simple -->\n<!-- end -->\n"
    )
    write(records, tmp_path)
    here, _, elsewhere = (tmp_path / "labs.md").read_text().partition("<!-- T60 q5 elsewhere")
    assert ("| agnp | 0.25" in here, "suzuki" in here) == (True, False)
    assert ("| suzuki | 0.75" in elsewhere, "agnp" in elsewhere) == (True, False)
    assert (tmp_path / "labs-T60-q5-elsewhere.svg").exists()


def test_the_service_is_shown_where_times_are(tmp_path: Path) -> None:
    """Its choices are those of the library; records of another version would stand beside them."""
    plain = [record_of(policy, "agnp", 0, simple) for policy, simple in (("auto", 0.25), ("nextbatch", 0.75))]
    marks = ("simple", "differences", "speed")
    (tmp_path / "labs.md").write_text("".join(f"<!-- T60 q5 {name} -->\n<!-- end -->\n" for name in marks))
    write([replace(record, regrets=(0.9, record.simple), processor=0.1) for record in plain], tmp_path)
    simple, differences, times = (tmp_path / "labs.md").read_text().split("<!-- end -->")[:3]
    assert ("0.25" in simple, "0.75" in simple) == (True, False)
    assert "| T60 q5 | nextbatch | 1 | -0.5000" in differences
    assert "| table | nextbatch, s |" in times


def record_of(policy: str, table: str, seed: int, simple: float) -> Record:
    return Record(policy, table, "T60 q5", seed, simple, hit=True, cumulative=0.5, recommended=0.1, seconds=1.0)


def test_means_are_over_the_tables_that_everybody_has() -> None:
    records = [record_of("a", "x", 0, 0.2), record_of("a", "y", 0, 0.4), record_of("b", "x", 0, 0.6)]
    assert [record.table for record in shared(records)] == ["x", "x"]
    assert "| a | T60 q5 | 1 | 1 | 0.2000 |" in per_policy(records)
    assert "| y | 0.4000 ± 0.0000 (1) | – |" in per_table(records)
    assert per_policy([]).count("\n") == 1


def test_the_experiments_that_batches_need_are_counted_on_equal_studies() -> None:
    def study(protocol: str, seed: int, *regrets: float) -> Record:
        return replace(record_of("auto", "x", seed, 0.0), protocol=protocol, regrets=regrets)

    one = [study("T50 q1", 0, 0.5, 0.04, 0.0), study("T50 q1", 1, 0.5, 0.5, 0.5)]
    five = [study("T60 q5", 0, 0.5, 0.5, 0.5, 0.015), study("T60 q5", 2, 0.0)]
    lines = experiments([*one, *five], "auto", ("T50 q1", "T60 q5"), 4).splitlines()[2:]
    assert lines == [
        "| T50 q1 | 1 | 2.0 | 3.0 | 3.0 | 3.0 |",
        "| T60 q5 | 1 | 4.0 | 4.0 | 4.0 | 4.0 |",
        "| second minus first | 1 | +2.0 ± 0.0 | +1.0 ± 0.0 | +1.0 ± 0.0 | +1.0 ± 0.0 |",
    ]
    assert experiments(one, "auto", ("T50 q1", "T60 q5"), 4).count("\n") == 1


def test_what_older_records_do_not_know_is_left_open() -> None:
    known = replace(record_of("a", "x", 0, 0.2), average=0.25, rounds=12, processor=1.0)
    assert "| 0.2500 | 12.0000 |" in per_policy([known])
    assert per_policy([known, replace(known, seed=1, average=float("nan"))]).count("–") == 1
    assert "–" in per_table([replace(known, average=float("nan"))], "average")


def test_differences_are_between_equal_tables_and_seeds() -> None:
    ours = [record_of("ours", "x", seed, 0.1) for seed in range(3)]
    others = [record_of("other", "x", 0, 0.3), record_of("other", "x", 1, 0.1), record_of("other", "y", 0, 9.0)]
    assert "| T60 q5 | other | 2 | -0.1000 ± 0.1386 |" in against(ours + others, "ours")


def test_any_number_of_policies_can_be_drawn(tmp_path: Path) -> None:
    one = replace(record_of("p0", "x", 0, 0.1), processor=0.5, regrets=(0.3, 0.1))
    records = [replace(one, policy=f"p{number}") for number in range(20)]
    plot_labs(records, "p0", "many", tmp_path / "many")
    assert (tmp_path / "many.svg").stat().st_size > 0


def test_ours_stands_well_on_a_table_where_no_peer_is_below() -> None:
    ours = [record_of("ours", table, seed, 0.1) for table in "xyz" for seed in range(2)]
    peers = [record_of("p", "x", 0, 0.1), record_of("p", "y", 0, 0.3), record_of("p", "y", 1, 0.0)]
    others = [record_of("q", "y", 0, 0.0), record_of("random", "z", 0, 0.0)]
    assert "| T60 q5 | 2 | 1 | 2 | 2 |" in standings(ours + peers + others, "ours", ["p", "q"])


def test_the_speed_of_peers_is_told_in_times_ours() -> None:
    seconds = {"x": {"ours": 0.1, "p": 4.0, "q": 2.0, "snapped": 0.5}, "y": {"ours": 0.2, "q": 1.0}, "z": {"p": 1.0}}
    records = [
        replace(record_of(who, table, 0, 0.0), processor=spent)
        for table, everybody in seconds.items()
        for who, spent in everybody.items()
    ]
    assert speed(records, "ours", ["p", "q", "absent"]).splitlines()[2:] == [
        "| x | 0.100 | 40.0 × | 20.0 × |",
        "| y | 0.200 | – | 5.0 × |",
    ]


def test_tables_from_elsewhere_have_the_objective_last_and_equal_candidates_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = {"parameters": [{"name": "heat"}, {"name": "time"}], "measurements": [{"name": "yield"}]}
    files = {
        "dataset_alkox/config.json": json.dumps(about),
        "dataset_alkox/data.csv": "1.0,2.0,30\n1.0,2.0,50\n3.0,2.0,10\n",
        "SuzukiMiyaura.csv": ",".join([*(f"{part}_smiles" for part in elsewhere.REACTIONS), "yield"])
        + "\nC,CC,Pd,,O,N,0.5\n",
        "FreeSolv.csv": "smiles,expt\nCCO,-5\nC,\n",
    }
    monkeypatch.setattr(elsewhere, "OLYMPUS", ("alkox",))
    monkeypatch.setattr(elsewhere, "MOLECULES", {"freesolv_ecfp1024": ("FreeSolv", "smiles", "expt")})
    monkeypatch.setattr(elsewhere, "_download", lambda _: files.__getitem__)
    monkeypatch.setattr(elsewhere, "fingerprint", lambda smiles: list(f"{len(smiles):01024b}"))
    elsewhere.main(folder)
    alkox, reactions, molecules = (load(folder, name) for name in ("alkox", "suzuki_miyaura", "freesolv_ecfp1024"))
    assert [column.name for column in alkox.columns] == ["heat", "time"]
    assert (alkox.numbers.tolist(), alkox.truth.tolist()) == ([[1, 2], [3, 2]], [40, 10])
    assert {column.kind for column in reactions.columns} == {"text"}
    assert reactions.cells()[3] == ["none"]
    assert (molecules.numbers[0, -3:].tolist(), molecules.truth.tolist()) == ([0, 1, 1], [-5])
