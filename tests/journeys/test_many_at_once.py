"""Sixteen benches over two processes at the same time: every batch once, every result kept, nobody turned away."""

from concurrent.futures import ThreadPoolExecutor

from tests.journeys.fleet import Fleet

BENCHES, ROUNDS = 16, 3
STUDY = "/studies/crowd"
LIST = "key,t,s\n" + "".join(f"K{n},{n % 17},{'ab'[n % 2]}\n" for n in range(300))


def test_nothing_is_doubled_lost_or_refused(fleet: Fleet) -> None:
    admin = fleet.client(seed=0)
    admin.send("PUT", STUDY, json={"repeats": "never"})
    admin.send("PUT", f"{STUDY}/candidates", content=LIST, headers={"Content-Type": "text/csv"})

    def work(bench: int) -> list[tuple[int, int]]:
        """Batch numbers and how many results were acknowledged for each."""
        client, done = fleet.client(seed=bench + 1), []
        for _ in range(ROUNDS):
            wanted = {"worker": f"bench-{bench}", "min_size": 2, "max_size": 2, "wait": 120}
            batch = client.send("POST", f"{STUDY}/batches", json=wanted).json()
            lines = [{"suggestion": one["suggestion"], "value": float(bench)} for one in batch["suggestions"]]
            told = client.send("POST", f"{STUDY}/observations", json={"observations": lines}).json()
            done.append((batch["number"], told["recorded"]))
        return done

    with ThreadPoolExecutor(BENCHES) as pool:
        done = [one for part in pool.map(work, range(BENCHES)) for one in part]
    assert sorted(number for number, _ in done) == list(range(1, BENCHES * ROUNDS + 1))
    seen = admin.get(f"{STUDY}/observations", limit=1000)["observations"]
    assert len(seen) == sum(recorded for _, recorded in done) == BENCHES * ROUNDS * 2
    assert len({one["key"] for one in seen}) == len(seen)
    assert admin.send("POST", f"{STUDY}/verify").json()["sound"]
    printed = fleet.printed()
    assert "locked" not in printed
    assert "Traceback" not in printed
