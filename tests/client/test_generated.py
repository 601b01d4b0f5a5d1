"""A client made by a public generator from the server's own document runs the loop."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from tests.client.conftest import ROWS
from tests.live import Live

# Bodies that the generator takes as bytes.
CONFIG = {
    "content_type_overrides": {
        "text/csv": "application/octet-stream",
        "application/x-npy": "application/octet-stream",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "application/octet-stream",
        "application/zip": "application/octet-stream",
        "image/svg+xml": "application/octet-stream",
        "application/vnd.apache.parquet": "application/octet-stream",
        "application/vnd.apache.arrow.file": "application/octet-stream",
    },
    "post_hooks": [],
}


@pytest.fixture(scope="module")
def generated(server: Live, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_bytes(httpx.get(f"{server.url}/openapi.json").content)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    generator = Path(sys.executable).with_name("openapi-python-client")
    arguments = ["generate", "--path", "openapi.json", "--config", "config.json", "--meta", "none", "--fail-on-warning"]
    subprocess.run([generator, *arguments, "--output-path", "generated_client"], cwd=folder, check=True)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("generated_client")
    sys.path.remove(str(folder))


class Generated:
    """Its functions and models by name; each has a module of its own."""

    def __init__(self, package: ModuleType, client: Any) -> None:
        self._package = package.__name__
        self._client = client

    def model(self, module: str, name: str) -> Any:
        return getattr(importlib.import_module(f"{self._package}.models.{module}"), name)

    def call(self, operation: str, *args: Any, **kwargs: Any) -> Any:
        module = importlib.import_module(f"{self._package}.api.{operation}")
        return module.sync(*args, client=self._client, **kwargs)


@pytest.fixture
def api(generated: ModuleType, server: Live) -> Iterator[Generated]:
    with generated.AuthenticatedClient(base_url=server.url, token=server.key) as client:
        yield Generated(generated, client)


def test_a_generated_client_runs_the_loop(api: Generated) -> None:
    study = api.call("studies.create_study", "generated", body=api.model("study_settings", "StudySettings")(unit="%"))
    assert (study.name, study.configuration.unit) == ("generated", "%")
    rows = api.model("upload_json_body", "UploadJsonBody").from_dict({"candidates": ROWS})
    assert api.call("candidates.upload", "generated", body=rows).added == 4
    batch = api.call("batches.ask_for_batch", "generated", body=api.model("ask_in", "AskIn")(max_size=2))
    for one in batch.suggestions:
        report = api.model("report_in", "ReportIn")(suggestion=one.suggestion, values=[0.5] * one.replicates)
        assert api.call("observations.report_observations", "generated", body=report).recorded == one.replicates
    assert api.call("reading.read_summary", "generated").counts.observations == batch.size


def test_a_generated_client_changes_only_what_it_is_told_to(api: Generated) -> None:
    made = {"unit": "mol", "max_batch": 7}
    api.call("studies.create_study", "changed", body=api.model("study_settings", "StudySettings").from_dict(made))
    change = api.model("study_change", "StudyChange").from_dict({"state": "paused"})
    study = api.call("studies.change_study", "changed", body=change, if_match="*")
    assert (study.state, study.configuration.unit, study.configuration.max_batch) == ("paused", "mol", 7)


def test_a_generated_client_understands_refusals(api: Generated) -> None:
    refused = api.call("studies.read_study", "nowhere")
    assert (refused.code, refused.status) == ("study-not-found", 404)
