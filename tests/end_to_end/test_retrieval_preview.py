"""A preview of retrieval data shows what each row puts together, and counts what goes through the model."""

import json

import pytest
from retrieval_made import make_encoder, write_rows


@pytest.mark.parametrize("kind", ["Bi", "Cross"])
def test_it_shows_the_positive_as_what_is_learned_and_counts_tokens_with_padding(kind, tmp_path, automodel):
    rows = [
        {"query": "kaban", "positive": "lodor mifel", "negatives": ["rugim"]},
        {"query": "teban sofel", "positive": "kafel", "negatives": ["sodor"]},
    ]
    config = {
        "recipe": f"Train{kind}EncoderRecipe",
        "model": {
            "_target_": f"NeMoAutoModel{kind}Encoder.from_pretrained",
            "name_or_path": str(make_encoder(tmp_path / "bert")),
        },
        "dataset": {"_target_": "RetrievalDataset", "path": str(write_rows(tmp_path / "rows.jsonl", rows))},
        "optimizer": {"_target_": "torch.optim.AdamW"},
        "dataloader": {"batch_size": 2},
    }
    (tmp_path / "cfg.yaml").write_text(json.dumps(config))
    code, out, err = automodel("data", "preview", "-c", tmp_path / "cfg.yaml")
    assert code == 0, err
    assert "[[lodor mifel]]" in out
    assert "- rugim" in out
    # A bi-encoder reads [CLS] text [SEP] thrice a row; a cross-encoder [CLS] query [SEP] document [SEP] twice.
    tokens = (3 + 4 + 3) + (4 + 3 + 3) if kind == "Bi" else (6 + 5) + (6 + 6)
    assert f"2 samples, {tokens} tokens" in out
    padded = 2 * 4 + 4 * 4 if kind == "Bi" else 4 * 6
    assert f"padding: {1 - tokens / padded:.1%}" in out
