"""Every config in ``docs/data.md`` is previewed as it stands."""

import json
import re
from pathlib import Path

import pytest
from chat_templates import CHATML, make_chat_tokenizer
from tiny import make_tokenizer, write_squad

DOCUMENT = (Path(__file__).parents[2] / "docs/data.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```yaml\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
CHAT = {"messages": [{"role": "user", "content": "How?"}, {"role": "assistant", "content": "Slow."}]}
FRAME = (
    "model: {_target_: NeMoAutoModelForCausalLM.from_pretrained, name_or_path: tokenizer}\n"
    "optimizer: {_target_: torch.optim.AdamW}\n"
)


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A directory with the data that the document speaks of, which is the working one."""
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data"
    data.mkdir()
    same = {"answer": "So.", "context": "c", "system": "s"}
    rows = [{"question": f"Why {n}?", "text": f"T{n}.", **same} for n in range(20)]
    for name in ("rows", "text"):
        (data / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (data / "chat.jsonl").write_text("\n".join([json.dumps(CHAT)] * 3))
    (data / "book.txt").write_text("\n\n".join(f"Paragraph {n} of a book." for n in range(30)))
    write_squad(data / "squad.json")
    return tmp_path


def splits(snippet: str) -> list[str]:
    return ["train", "validation"] if "validation_dataset" in snippet else ["train"]


@pytest.mark.parametrize(("snippet", "split"), [(snippet, split) for snippet in SNIPPETS for split in splits(snippet)])
def test_a_config_of_the_document_is_previewed(workplace, automodel, snippet, split):
    make_chat_tokenizer(workplace / "tokenizer", CHATML)
    (workplace / "cfg.yaml").write_text(FRAME + snippet)
    code, out, err = automodel("data", "preview", "-c", "cfg.yaml", "--split", split)
    assert code == 0, err
    assert "[[" in out


def test_the_document_has_a_config_for_every_data_set():
    for name in ("ChatDataset", "InstructionDataset", "TextDataset", "SquadDataset"):
        assert any(f"_target_: {name}" in snippet for snippet in SNIPPETS)


def test_the_sample_of_the_document_is_what_the_command_shows(workplace, automodel):
    shown = re.search(r"^```text\n(sample 0.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert shown is not None
    (workplace / "data/rows.jsonl").write_text('{"question": "How is the river?", "answer": "The river is slow."}\n')
    make_tokenizer(workplace / "tokenizer")
    dataset = "dataset: {_target_: InstructionDataset, path: data/rows.jsonl, split: all}\n"
    (workplace / "cfg.yaml").write_text(FRAME + dataset)
    _, out, _ = automodel("data", "preview", "cfg.yaml")
    assert shown.group(1) in out


def test_the_error_of_the_document_is_what_the_command_prints(workplace, automodel):
    shown = re.search(r"^```text\n(error: .*?\n)(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert shown is not None
    (workplace / "rows.jsonl").write_text(
        '{"context": "c", "question": "q", "answer": "a"}\n{"context": "c", "answer": "a"}\n'
    )
    make_tokenizer(workplace / "tokenizer")
    (workplace / "cfg.yaml").write_text(FRAME + "dataset: {_target_: SquadDataset, path: rows.jsonl, split: all}\n")
    _, _, err = automodel("data", "preview", "cfg.yaml")
    assert shown.group(1) in err
    assert shown.group(2) in err
