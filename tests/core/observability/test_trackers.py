"""Each experiment tracker gets what a real run reports, and it can be read back with the tracker's own means."""

from __future__ import annotations

import json
import math
import sqlite3
import struct
from typing import Any

import pytest

import automodel_core as am
from automodel_core.observability.samples import ValidationSample
from automodel_core.observability.trackers.tracker import flat_config, step_metrics, validation_metrics

SHOWN_STEPS = [1, 2, 4, 6]
"""With a `log_interval` of 2."""
VALIDATED_STEPS = [3, 6]


def run(config: dict[str, Any], **logging: Any) -> dict[int, float]:
    """Run and return the losses of the steps, as another observer saw them."""
    losses = {}

    class Watch:
        @am.hookimpl
        def step_finished(self, sample):
            losses[sample.step] = sample.loss

    config["logging"] = logging
    am.run(config, route="finetune llm", plugins=[Watch()])
    return losses


def test_metrics_are_named_after_what_they_were_measured_on(sample):
    metrics = step_metrics(sample(3, 2.5, extras={"targets": 7, "grad_norm_before_clip": math.inf}))
    assert metrics["train/loss"] == 2.5
    assert metrics["train/targets"] == 7
    assert {"train/step", "train/event", "train/mfu", "train/grad_norm_before_clip"}.isdisjoint(metrics)
    held_out = ValidationSample(step=3, epoch=0, loss=1.5, targets=9, seconds=0.5, name="held_out")
    assert validation_metrics(held_out) == {"held_out/loss": 1.5, "held_out/targets": 9, "held_out/seconds": 0.5}


def test_a_config_is_flattened_to_dotted_keys():
    nested = {"a": {"b": 1, "c": {"d": None}}, "e": [1, 2], "f": {}}
    assert flat_config(nested) == {"a.b": 1, "a.c.d": None, "e": [1, 2], "f": {}}


def test_a_tracker_that_cannot_be_opened_is_reported_once_and_the_run_goes_on(watched_config, tmp_path, capfd):
    pytest.importorskip("tensorboard")
    (tmp_path / "taken").write_text("a file, not a directory")
    losses = run(watched_config, tensorboard={"directory": str(tmp_path / "taken")})
    assert len(losses) == 6
    assert capfd.readouterr().err.count("plugin `TensorboardTracker` failed in `run_started`") == 1


class TestTensorboard:
    @pytest.fixture
    def read(self, metrics):
        accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")

        def read(directory=None):
            return accumulator.EventAccumulator(str(directory or metrics.with_name("tensorboard"))).Reload()

        return read

    def test_scalars_texts_and_hyper_parameters_are_in_the_event_file(self, watched_config, read):
        losses = run(watched_config, tensorboard={})
        events = read()
        scalars = [(event.step, pytest.approx(event.value)) for event in events.Scalars("train/loss")]
        assert scalars == [(step, losses[step]) for step in SHOWN_STEPS]
        assert [event.step for event in events.Scalars("validation/loss")] == VALIDATED_STEPS
        assert b"lr: 0.001" in events.Tensors("config/text_summary")[0].tensor_proto.string_val[0]
        assert [event.step for event in events.Tensors("checkpoint/text_summary")] == [6]
        from tensorboard.plugins.hparams import metadata

        content = events.SummaryMetadata(metadata.SESSION_START_INFO_TAG).plugin_data.content
        hyper_parameters = metadata.parse_session_start_info_plugin_data(content).hparams
        assert hyper_parameters["optimizer.lr"].number_value == 0.001
        assert hyper_parameters["step_scheduler.max_steps"].number_value == 6

    def test_a_resumed_run_takes_the_place_of_what_came_after_its_start(self, watched_config, read, tmp_path):
        directory = tmp_path / "events"
        watched_config["step_scheduler"] |= {"checkpoint_interval": 4, "log_interval": 1}
        run(watched_config, tensorboard={"directory": str(directory)})
        watched_config["restore_from"] = {"path": str(tmp_path / "run" / "step-4")}
        watched_config["checkpoint"]["directory"] = str(tmp_path / "more")
        run(watched_config, tensorboard={"directory": str(directory)})
        assert [event.step for event in read(directory).Scalars("train/loss")] == [1, 2, 3, 4, 5, 6]


class TestMlflow:
    @pytest.fixture
    def client(self, metrics, monkeypatch):
        pytest.importorskip("sqlalchemy")
        monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
        mlflow = pytest.importorskip("mlflow")
        return lambda: mlflow.MlflowClient(f"sqlite:///{metrics.with_name('mlflow.db')}")

    def test_parameters_metrics_and_the_outcome_are_in_the_store(self, watched_config, client):
        losses = run(watched_config, mlflow={"experiment": "probe", "name": "first"})
        (found,) = client().search_runs([client().get_experiment_by_name("probe").experiment_id])
        assert (found.info.run_name, found.info.status) == ("first", "FINISHED")
        assert found.data.params["optimizer.lr"] == "0.001"
        history = client().get_metric_history(found.info.run_id, "train/loss")
        assert [(metric.step, metric.value) for metric in history] == [(step, losses[step]) for step in SHOWN_STEPS]
        held_out = client().get_metric_history(found.info.run_id, "validation/loss")
        assert [metric.step for metric in held_out] == VALIDATED_STEPS
        assert found.data.tags["checkpoint"].endswith("step-6")

    def test_a_run_that_is_named_by_its_id_is_gone_on_with(self, watched_config, client):
        run(watched_config, mlflow={})
        experiment = client().get_experiment_by_name("automodel").experiment_id
        (first,) = client().search_runs([experiment])
        watched_config["step_scheduler"]["max_steps"] = 8
        watched_config["restore_from"] = {"path": "latest"}
        run(watched_config, mlflow={"id": first.info.run_id})
        (again,) = client().search_runs([experiment])
        steps = [metric.step for metric in client().get_metric_history(again.info.run_id, "train/loss")]
        assert steps == [*SHOWN_STEPS, 8]


class TestWandb:
    def test_an_offline_run_holds_the_config_the_history_and_the_summary(self, watched_config, metrics):
        pytest.importorskip("wandb")
        losses = run(watched_config, wandb={"project": "probe", "name": "first", "mode": "offline"})
        (file,) = metrics.parent.glob("wandb/offline-run-*/run-*.wandb")
        records = list(wandb_records(file.read_bytes()))
        (started,) = [record.run for record in records if record.WhichOneof("record_type") == "run"]
        assert (started.project, started.display_name) == ("probe", "first")
        config = {item.key: json.loads(item.value_json) for item in started.config.update}
        assert config["optimizer"]["lr"] == 0.001
        history = [
            {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
            for record in records
            if record.WhichOneof("record_type") == "history"
        ]
        seen = {row["_step"]: row["train/loss"] for row in history if "train/loss" in row}
        assert seen == {step: losses[step] for step in SHOWN_STEPS}
        assert [row["_step"] for row in history if "validation/loss" in row] == VALIDATED_STEPS
        (code,) = [record.exit.exit_code for record in records if record.WhichOneof("record_type") == "exit"]
        assert code == 0


def wandb_records(content: bytes):
    """Yield the records of an offline file: a header of 7 bytes, then LevelDB's log format in blocks of 32 KiB."""
    from wandb.proto.wandb_internal_pb2 import Record

    position, pending = 7, b""
    while position + 7 <= len(content):
        left = 32768 - position % 32768
        if left < 7:
            position += left
            continue
        _, length, kind = struct.unpack("<IHB", content[position : position + 7])
        pending += content[position + 7 : position + 7 + length]
        position += 7 + length
        if kind in (1, 4):  # A whole record, or the last part of one.
            record = Record()
            record.ParseFromString(pending)
            yield record
            pending = b""


class TestTrackio:
    def test_the_project_holds_the_config_and_the_metrics(self, watched_config):
        trackio = pytest.importorskip("trackio")
        from trackio.utils import TRACKIO_DIR

        name = f"probe-{watched_config['checkpoint']['directory'].replace('/', '-').strip('-')}"
        losses = run(watched_config, trackio={"project": "automodel-probe", "name": name})
        try:
            (database,) = TRACKIO_DIR.glob("automodel-probe*.db")
            with sqlite3.connect(database) as connection:
                rows = connection.execute(
                    "select step, metrics from metrics where run_name = ? order by step", (name,)
                ).fetchall()
        finally:
            trackio.delete_project("automodel-probe", force=True)
        logged = [(step, json.loads(text)) for step, text in rows]
        seen = {step: metrics["train/loss"] for step, metrics in logged if "train/loss" in metrics}
        assert seen == {step: losses[step] for step in SHOWN_STEPS}
        assert [step for step, metrics in logged if "validation/loss" in metrics] == VALIDATED_STEPS
