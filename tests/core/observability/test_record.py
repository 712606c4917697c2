"""``metrics.jsonl``: what is in it, and that the document says so."""

from __future__ import annotations

import json
import re

import pytest
import yaml

import automodel_core as am


@pytest.fixture
def documented(pytestconfig) -> dict[str, list[str]]:
    """The fields of each event as the document lists them."""
    page = (pytestconfig.rootpath / "docs" / "watching-a-run.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### `(\w+)`\n(.*?)(?=^##)", page, re.MULTILINE | re.DOTALL)
    return {event: re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) for event, table in sections}


def test_every_field_of_every_event_is_documented_and_nothing_else(watched_config, metrics, documented):
    am.run(watched_config, route="finetune llm")
    written: dict[str, set[str]] = {}
    for record in map(json.loads, metrics.read_text().splitlines()):
        written.setdefault(record.pop("event"), set()).update(record)
    assert written == {event: set(fields) for event, fields in documented.items()}


def test_every_step_has_a_line_whatever_the_log_interval(watched_config, metrics):
    watched_config["step_scheduler"]["log_interval"] = 100
    am.run(watched_config, route="finetune llm")
    records = map(json.loads, metrics.read_text().splitlines())
    assert [record["step"] for record in records if record["event"] == "step"] == [1, 2, 3, 4, 5, 6]


def test_the_observer_of_the_document_runs(watched_config, pytestconfig, tmp_path, monkeypatch, capfd):
    page = (pytestconfig.rootpath / "docs" / "watching-a-run.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "cfg.yaml").write_text(json.dumps(watched_config))
    monkeypatch.chdir(tmp_path)
    exec(compile(snippet, "watching-a-run.md", "exec"), {})
    assert re.match(r"step 1: loss \d\.\d{3}\n", capfd.readouterr().out)


def test_the_trackers_of_the_document_are_a_valid_config(pytestconfig):
    page = (pytestconfig.rootpath / "docs" / "watching-a-run.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    logging = am.load_run_config(yaml.safe_load(snippet), required=()).logging
    assert (logging.wandb.mode, logging.mlflow.experiment, logging.trackio.name) == ("offline", "my-project", "first")
