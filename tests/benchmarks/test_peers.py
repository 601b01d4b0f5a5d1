"""The peers' worker, link, adapters and timings; ours, run as a peer, stands for them all."""

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.labs.policies import Auto
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.records import Record
from benchmarks.labs.simulation import simulate
from benchmarks.labs.tables import Table, load
from benchmarks.lines import read
from benchmarks.peers.__main__ import main
from benchmarks.peers.adapters.adapter import Adapter, Given
from benchmarks.peers.adapters.snapping import Snapping
from benchmarks.peers.link import Link, PeerError, given
from benchmarks.peers.policy import Peer
from benchmarks.peers.summary import SMALL, regrets, speeds
from benchmarks.peers.timing import LIBRARY, SERVICE, Timing

GIVEN = Given(("heat", "solvent"), ([10, 20, 30, 40], ["DMF", "THF", "DMF", "THF"]), noisy=False, seed=0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table of 60 candidates with two numbers and a word."""
    rows = [f"{i},{i % 7 / 2},{'abc'[i % 3]},{-((i - 40) ** 2) + i % 7}" for i in range(60)]
    with gzip.open(tmp_path / "toy.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(["i,half,word,y", *rows]) + "\n")
    return tmp_path


@pytest.fixture
def table(folder: Path) -> Table:
    return load(folder, "toy")


@pytest.fixture
def link() -> Iterator[Link]:
    with Link("nextbatch", Path(sys.executable)) as link:
        yield link


def test_features_are_between_0_and_1_with_a_column_for_every_word() -> None:
    assert GIVEN.features()[1].tolist() == pytest.approx([1 / 3, 0, 1])
    assert GIVEN.encoded([{"heat": 25, "solvent": "DMF"}])[0].tolist() == pytest.approx([0.5, 1, 0])


def test_whole_numbers_are_told_as_such() -> None:
    message = {"columns": ["n", "x"], "values": [[1.0, 2.0], [1.0, 2.5]], "noisy": False, "seed": 0}
    assert [type(column[0]) for column in Given.of(message).values] == [int, float]


def test_what_was_measured_may_be_measured_again_only_if_there_is_noise() -> None:
    for noisy, choices in ((False, [0, 2]), (True, [0, 1, 2, 3])):
        study = Adapter(Given(GIVEN.columns, GIVEN.values, noisy, 0))
        study.tell([1, 3], [5.0, 7.0])
        assert study.choices().tolist() == choices
        assert study.recommend() == 3


def test_a_point_is_moved_to_the_nearest_candidate_that_is_free() -> None:
    study = Snapping(GIVEN)
    study.tell([0], [1.0])
    assert study.nearest([{"heat": 10, "solvent": "DMF"}, {"heat": 40, "solvent": "THF"}]) == [2, 3]
    assert study.nearest([{"heat": 11, "solvent": "DMF"}] * 2) == [2, 1]


def test_a_peer_is_told_and_asked_through_its_process(table: Table, link: Link) -> None:
    protocol = Protocol(20, 4)
    record = simulate(table, protocol, 0, "peer", lambda *study: Peer(link, "", *study))
    first = simulate(table, protocol, 0, "peer", lambda *study: Peer(link, "", *study))
    assert len(record.regrets) == 20
    assert record.regrets == first.regrets
    assert record.simple < 0.02
    assert record.processor > 0
    assert link.peak > 0
    assert record.regrets != simulate(table, protocol, 0, "auto", Auto).regrets


def test_a_failure_is_the_peers_own_words_and_the_next_study_begins(table: Table, link: Link) -> None:
    link.start(variant="", noisy=False, seed=0, **given(table))
    with pytest.raises(PeerError, match="beyond the 60 known"):
        link.call("tell", rows=[99], values=[1.0]) or link.call("ask", q=1)
    link.start(variant="", noisy=False, seed=0, **given(table))
    link.call("tell", rows=[5, 6], values=[1.0, 2.0])
    assert len(link.call("ask", q=3)) == 3
    assert link.call("recommend") == 6


def test_a_process_that_takes_too_long_is_given_up_and_another_begins(table: Table) -> None:
    with Link("nextbatch", Path(sys.executable), patience=0) as link:
        with pytest.raises(PeerError, match="no answer in 0 s"):
            link.start(variant="", noisy=False, seed=0, **given(table))
        link.patience = 600
        link.start(variant="", noisy=False, seed=0, **given(table))


def test_a_process_that_is_killed_is_said_to_be(table: Table, link: Link) -> None:
    link._process.kill()
    with pytest.raises(PeerError, match="ended with -9"):
        link.call("start", variant="", noisy=False, seed=0, **given(table))


def test_timings_go_on_where_they_were_and_are_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "peers.jsonl"
    for results in (["20"], ["20", "30"]):
        main(
            ["run", *f"--data {folder} --out {out} --tables toy --results".split(), *results, "--who", LIBRARY, SERVICE]
        )
    timings = read(out, Timing)
    assert [(one.who, one.n) for one in timings] == [(LIBRARY, 20), (SERVICE, 20), (LIBRARY, 30), (SERVICE, 30)]
    assert all(np.min([one.record, one.ask]) >= 0 and one.peak > 1e7 and not one.error for one in timings)
    row = f"| 60 | 30 | {SERVICE} | native |"
    assert row in capsys.readouterr().out
    (folder / "peers.md").write_text("<!-- timings -->\n<!-- end -->\n")
    main(["page", "--out", str(out), "--pages", str(folder)])
    assert (folder / "peers.svg").exists()
    assert row in (folder / "peers.md").read_text()


def test_a_failure_is_shown_after_the_figures() -> None:
    timings = [
        Timing("Ax", "toy", 60, 20, 5, error="MemoryError"),
        Timing("BayBE", "toy", 60, 20, 5, (1, 1), (2, 2), 3e6),
    ]
    assert speeds(timings).splitlines()[2:] == [
        "| 60 | 20 | BayBE | native | 1.00 | 2.00 | 2.00 | 3 |",
        "| 60 | 20 | Ax | snapped | MemoryError | – | – | – |",
    ]


def test_regrets_are_of_those_who_did_every_small_table() -> None:
    def study(policy: str, table: str, seed: int, cumulative: float) -> Record:
        return Record(
            policy, table, "T60 q5", seed, 0.25, hit=True, cumulative=cumulative, recommended=0.0, seconds=1.0
        )

    slow = [study("Ax", table, 0, 0.75) for table in SMALL]
    fast = [study("BayBE", table, seed, 0.5) for table in SMALL for seed in range(6)]
    shown = regrets([*slow, *fast, study("BoFire", SMALL[0], 0, 0.1)])
    assert shown.splitlines()[2:] == [
        "| BayBE |" + " 0.250 (0.50) |" * 4,
        "| Ax, snapped |" + " 0.250 (0.75) of 1 |" * 4,
    ]
