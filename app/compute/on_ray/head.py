"""The head of a cluster on this machine: `python -m app.compute.on_ray.head DESCRIPTOR`; `cluster` starts it.

It tells its address on its channel, and ends when the other end is closed. Ray's own processes end with it.
"""

import os
import sys
from contextlib import suppress
from shutil import rmtree

import ray

from app.compute.channel import Channel
from app.compute.on_ray.cluster import HeadSettings
from app.compute.worker import serve_until_server_has_gone

ATTEMPTS = 5  # Ray gives a node 30 seconds to start, which may not suffice on a machine with much other work


def _start(settings: HeadSettings) -> None:
    ray.init(
        address="local",
        num_cpus=0,  # actors reserve none, and so no workers are started in advance
        object_store_memory=settings.object_store_bytes,
        include_dashboard=False,
        configure_logging=False,
        log_to_driver=False,
        _temp_dir=settings.folder,
    )


def serve(channel: Channel, settings: HeadSettings) -> None:
    """Until the server has gone; then nothing of the cluster remains."""
    try:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                _start(settings)
                break
            except Exception:  # Ray has no narrower one for this
                ray.shutdown()
                if attempt == ATTEMPTS:
                    raise
        with suppress(EOFError, OSError):
            channel.send(ray.get_runtime_context().gcs_address)
            channel.receive()
        ray.shutdown()
    finally:
        rmtree(settings.folder, ignore_errors=True)


if __name__ == "__main__":
    serve_until_server_has_gone(serve)
    sys.stderr.flush()
    os._exit(0)  # Ray has nothing left to do
