"""From an empty study to a certificate, over a real server on either database."""

from pathlib import Path

from nextbatch import Client
from tests import live

CSV = "key,temperature,solvent,supplier\n" + "".join(
    f"R{number},{20 + number},{'DMF' if number % 2 else 'THF'},Acme\n" for number in range(30)
)


def test_a_study_goes_from_a_csv_file_to_a_certificate(address: str, tmp_path: Path) -> None:
    (tmp_path / "candidates.csv").write_text(CSV)
    with live.running(address, tmp_path) as server, Client(server.url, server.key) as client:
        study = client.create_study("journey", objective="yield", unit="%")
        receipt = study.upload(tmp_path / "candidates.csv", attributes=["supplier"])
        assert (receipt.added, study.details.candidates) == (30, 30)

        batch = study.ask(worker="bench-1", max_size=6)
        assert study.ask(worker="bench-1").number == batch.number
        assert batch.report({one.key: [one["temperature"] / 50] * one.replicates for one in batch}).stored

        filled = tmp_path / "filled.csv"
        header, *rows = study.ask(worker="bench-2", max_size=4).sheet().splitlines()
        place = header.split(",").index("value")
        cells = [row.split(",") for row in rows]
        filled.write_text("\n".join([header, *(",".join([*c[:place], "0.5", *c[place + 1 :]]) for c in cells)]))
        assert not study.report(filled, dry_run=True).stored
        assert study.report(filled).recorded == len(rows)

        first = study.observations()[0]
        study.correct(first, first.value + 0.01, "read the wrong line")
        best, verdict = study.best(), study.certificate()
        assert best is not None
        assert verdict.certificate is not None
        assert verdict.certificate.regret_bound >= 0
        assert study.verify().sound
        assert study.replay(1).equal
        assert "best so far" in str(study.overview())
