"""What ``docs/retrieval.md`` shows is run as it stands, with tiny assets under the same names and fewer steps."""

import json
import re
import shlex
from pathlib import Path

import pytest
from tiny_assets import MAKERS

from automodel_retrieval.data.retrieval_dataset import RetrievalDataset

DOCUMENT = (Path(__file__).parents[2] / "docs/retrieval.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    for name in ("minilm-l6-v2", "wikipedia-passages"):
        MAKERS[name](tmp_path / "cache" / "assets" / name)
    monkeypatch.setenv("AUTOMODEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_its_commands_run_in_order_and_its_python_reads_the_checkpoint(workplace, automodel, capfd):
    lines = "\n".join(blocks("bash")).replace("\\\n", " ").splitlines()
    for line in filter(None, lines):
        command = shlex.split(line)[1:]
        if command[:2] == ["assets", "fetch"]:
            continue  # they are there, under these names
        fewer = ["--step_scheduler.max_steps", "2", "--step_scheduler.val_check_interval", "2"]
        code, out, err = automodel(*command, *(fewer if command[0] == "finetune" else []))
        assert code == 0, (line, err)
        if command[0] == "evaluate":
            assert "mrr=" in out
    report = json.loads((workplace / "mined/report.json").read_text())
    assert report["negatives"] > 0
    assert (workplace / "runs/on_mined/step-2/modules.json").is_file()
    (snippet,) = blocks("python")
    exec(compile(snippet.replace("step-200", "step-2"), "docs/retrieval.md", "exec"), {})
    assert "tensor" in capfd.readouterr().out


def test_its_row_and_its_files_are_read(workplace):
    (row,) = blocks("json")
    (workplace / "row.jsonl").write_text(row)
    assert len(RetrievalDataset("row.jsonl").rows[0].negatives) == 2
    (config,) = (block for block in blocks("yaml") if "judgements" in block)
    (workplace / "data").mkdir()
    for path, line in re.findall(r"(data/\w+\.jsonl)\s+# (.*)", config):
        (workplace / path).write_text(line + "\n")
    data = RetrievalDataset("data/judgements.jsonl", corpus="data/corpus.jsonl", queries="data/queries.jsonl")
    assert data.rows[0].query == "…"
    assert data.rows[0].positives[0].id == "d7"
