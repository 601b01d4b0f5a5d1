"""A process that is killed between any two steps loses no message: the next one sends it, under the same id."""

import signal
import subprocess
import sys

import pytest

from app.settings import Settings
from tests.api.lab import Lab
from tests.server import ROOT
from tests.webhooks.receiver import Receiver

NEVER = 1000
PROGRAM = """
import sys
from pathlib import Path

from app import failpoints
from app.services.resources import open_resources
from app.settings import Settings
from app.webhooks import dispatcher
from app.webhooks.targets import read_targets

data, url, target, point, count = sys.argv[1:]
settings = Settings(data=Path(data), database_url=url, log_level="error")
resources = open_resources(settings)
dispatcher.CLAIM_SECONDS = 0.0
sending = dispatcher.Dispatcher(resources, read_targets([target]))
failpoints.arm({point: int(count)})
sending.look()
print("finished", flush=True)
sending.close()
resources.close()
"""


@pytest.mark.parametrize("point", ["before-commit", "committed", "delivery-claimed", "delivery-sent"])
def test_no_message_is_lost_whenever_a_process_dies(
    lab: Lab, receiver: Receiver, settings: Settings, address: str, point: str
) -> None:
    webhook = {"url": f"{receiver.url}/hooks/x"}
    assert lab.begin().client.post(f"{lab.path}/webhooks", json=webhook).status_code == 201
    lab.work(1)
    expected = [event["seq"] for event in lab.client.get(f"{lab.path}/events").json()["events"][-2:]]
    for reached in (1, 2, NEVER):
        arguments = [str(settings.data), address, receiver.url, point, str(reached)]
        program = [sys.executable, "-c", PROGRAM, *arguments]
        ended = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
        assert ended.returncode == (0 if reached == NEVER else -signal.SIGKILL), ended.stderr
    heard = [event for _, event in receiver.told()]
    assert sorted(set(heard)) == expected
    assert heard == sorted(heard)
    assert len(set(receiver.ids)) == len(expected)
