"""Mining writes a data set that a run trains on, and goes on where it was stopped."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from retrieval_made import WORDS, make_encoder, pairs, write_rows

import automodel_core as am
from automodel_retrieval.data.retrieval_dataset import RetrievalDataset


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def config(encoder, tmp_path):
    rows = [{**row, "positive": {"id": i, "text": row["positive"]}} for i, row in enumerate(pairs(30, negatives=0))]
    del rows[0]["negatives"]
    rows.append({"query": rows[0]["query"], "positive": {"id": 99, "text": rows[1]["positive"]["text"]}})
    return {
        "model": {"_target_": "NeMoAutoModelBiEncoder.from_pretrained", "name_or_path": str(encoder)},
        "dataset": {"_target_": "RetrievalDataset", "path": str(write_rows(tmp_path / "pairs.jsonl", rows))},
        "retrieval": {"query_max_length": 16, "document_max_length": 24},
        "mining": {"output": str(tmp_path / "mined"), "candidates": 12, "negatives_per_query": 3, "chunk_size": 8},
    }


def mine(config):
    return am.run(config, route="mine retrieval").report


def test_no_known_positive_is_written_and_every_candidate_is_accounted_for(config, tmp_path):
    report = mine(config)
    assert report["queries"] == 30
    assert report["documents"] == 30  # one text has two ids, and is one document
    assert report["candidates"] == 30 * 12
    parts = (
        "known_positives",
        "above_absolute_margin",
        "above_relative_margin",
        "skipped_nearest",
        "negatives",
        "surplus",
    )
    assert report["candidates"] == sum(report[part] for part in parts)
    rows = [json.loads(line) for line in (tmp_path / "mined/train.jsonl").read_text().splitlines()]
    assert len(rows) == report["rows"] == 31
    positives: dict = {}
    for row in rows:
        positives.setdefault(row["query"], set()).update(document["text"] for document in row["positive"])
    for row in rows:
        assert not positives[row["query"]] & {document["text"] for document in row["negatives"]}
        scores = [document["score"] for document in row["negatives"]]
        assert scores == sorted(scores, reverse=True)
    written = {row["query"]: len(row["negatives"]) for row in rows}
    assert sum(written.values()) == report["negatives"]


def test_the_data_set_reads_the_file_and_a_run_trains_on_it(config, tmp_path):
    mine(config)
    data = RetrievalDataset(str(tmp_path / "mined/train.jsonl"))
    assert all(len(row.negatives) == 3 for row in data.rows)
    config["dataset"]["path"] = str(tmp_path / "mined")
    (tmp_path / "mined/report.json").rename(tmp_path / "report.json")
    del config["mining"]
    config |= {
        "dataloader": {"batch_size": 8},
        "step_scheduler": {"max_steps": 2},
        "optimizer": {"_target_": "torch.optim.AdamW", "lr": 1e-3},
        "checkpoint": {"directory": str(tmp_path / "run")},
    }
    assert am.run(config, route="finetune retrieval").run.scheduler.step == 2


def test_margins_leave_out_and_say_how_many(config):
    config["mining"]["absolute_margin"] = 0.0
    report = mine(config)
    assert report["above_absolute_margin"] > 0
    config["mining"] |= {"absolute_margin": None, "relative_margin": 0.3}
    again = mine(config)
    assert again["above_absolute_margin"] == 0
    assert again["above_relative_margin"] > report["above_absolute_margin"]


def test_torch_and_faiss_write_the_same_file(config, tmp_path):
    pytest.importorskip("faiss")
    written = []
    for backend in ("torch", "faiss"):
        config["mining"]["search"] = backend
        assert mine(config)["search"] == backend
        written.append((tmp_path / "mined/train.jsonl").read_text())
    assert written[0] == written[1]


def test_embeddings_of_another_model_are_never_mixed_in(config, tmp_path):
    mine(config)
    config["model"]["name_or_path"] = str(make_encoder(tmp_path / "other", seed=1))
    with pytest.raises(am.InputError, match="another source: weights changed") as error:
        mine(config)
    assert [d.code for d in error.value.diagnostics] == ["AM390"]
    config["mining"]["overwrite"] = True
    mine(config)


def test_a_killed_run_goes_on_and_writes_what_an_undisturbed_one_writes(config, tmp_path):
    """The process is killed in the middle of the corpus; what it embedded is not embedded again."""
    corpus = write_rows(
        tmp_path / "corpus.jsonl",
        [{"id": 1000 + i, "text": f"{WORDS[i % 24]} {WORDS[i // 24 % 24]}"} for i in range(500)],
    )
    config["dataset"]["corpus"] = str(corpus)
    config["mining"] |= {"chunk_size": 2}
    (tmp_path / "mine.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "automodel_core", "mine", "retrieval", "-c", str(tmp_path / "mine.json")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))
    embeddings = tmp_path / "mined/embeddings"
    deadline = time.monotonic() + 120
    while len(list(embeddings.glob("document-*.safetensors"))) < 3 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "mined/report.json").exists()
    kept = {path: path.stat().st_mtime_ns for path in embeddings.glob("document-*.safetensors")}
    assert 3 <= len(kept) < 250
    damaged = sorted(kept)[0]
    damaged.write_bytes(damaged.read_bytes()[:20])
    kept.pop(damaged)
    mine(config)
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    resumed = (tmp_path / "mined/train.jsonl").read_bytes()
    config["mining"]["output"] = str(tmp_path / "undisturbed")
    mine(config)
    assert (tmp_path / "undisturbed/train.jsonl").read_bytes() == resumed


def test_a_place_that_cannot_be_written_is_said_where_it_is_named(config, tmp_path, automodel):
    (tmp_path / "file").write_text("")
    config["mining"]["output"] = str(tmp_path / "file")
    (tmp_path / "cfg.yaml").write_text(json.dumps(config, indent=1))
    code, _, err = automodel("mine", "retrieval", "-c", tmp_path / "cfg.yaml")
    assert code == 2, err
    assert "results cannot be written to" in err
    assert "[AM520]" in err
    assert "cfg.yaml:" in err
    assert "help: name another directory in `mining.output`" in err


def test_an_embedding_that_changed_on_disk_is_made_again(config, tmp_path):
    mine(config)
    clean = (tmp_path / "mined/train.jsonl").read_text()
    chunk = sorted((tmp_path / "mined/embeddings").glob("document-*.safetensors"))[0]
    damaged = bytearray(chunk.read_bytes())
    damaged[-3] ^= 0x40
    chunk.write_bytes(damaged)
    mine(config)
    assert (tmp_path / "mined/train.jsonl").read_text() == clean
    assert chunk.read_bytes() != bytes(damaged)
