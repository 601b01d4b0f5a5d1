"""The load benchmark sends its whole mix, and counts what came of it."""

import asyncio

import httpx
import pytest

from benchmarks.load import main
from benchmarks.traffic import MIX, send_steadily


def test_a_row_tells_what_was_answered(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--rates", "4", "--seconds", "2", "--streams", "2", "--databases", "sqlite"]) == 0
    cells = [cell.strip() for cell in capsys.readouterr().out.splitlines()[-1].split("|")[1:-1]]
    assert cells[:2] == ["sqlite", "4"]
    assert cells[3:5] == ["0.0 %", "0.0 %"]
    assert float(cells[5]) > 0


@pytest.mark.parametrize(("status", "outcome"), [(200, "answered"), (503, "shed"), (429, "shed"), (500, "failed")])
def test_every_request_is_counted_once(status: int, outcome: str) -> None:
    async def send() -> dict[str, int]:
        answer = httpx.MockTransport(lambda _: httpx.Response(status, json={"number": 1}))
        async with httpx.AsyncClient(transport=answer, base_url="http://server") as client:
            measured = await send_steadily(client, rate=200, seconds=0.5, seed=1)
        assert set(measured.times) == (set(MIX) if status == 200 else set())
        return dict(measured.outcomes)

    assert asyncio.run(send()) == {outcome: 100}
