"""`dataset.max_seq_length` against the positions of the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from automodel_core.config import Vocabulary, load_run_config


def warnings(vocabulary: Vocabulary, path: Path, model: str, length: Any) -> list[tuple[str, int, int]]:
    path.write_text(f"model: {{_target_: tiny.Model, {model}}}\ndataset:\n  _target_: tiny.Dataset\n{length}")
    found = load_run_config(path, (), vocabulary, required=()).warnings
    return [(w.code, w.span.line, w.span.column) for w in found if w.span is not None]


@pytest.mark.parametrize(
    ("model", "length", "expected"),
    [
        ("config: {max_position_embeddings: 512}", "  max_seq_length: 513\n", [("AM934", 4, 19)]),
        ("config: {text_config: {n_positions: 512}}", "  max_seq_length: 600\n", [("AM934", 4, 19)]),
        ("config: {max_position_embeddings: 512}", "  max_seq_length: 512\n", []),
        ("config: {max_position_embeddings: 512}", "", []),
        ("config: {}", "  max_seq_length: 9999\n", []),
        ("name_or_path: some/model", "  max_seq_length: 9999\n", []),
    ],
)
def test_longer_samples_than_positions_are_a_warning(
    vocabulary: Vocabulary, tmp_path: Path, model: str, length: str, expected: list[tuple[str, int, int]]
) -> None:
    assert warnings(vocabulary, tmp_path / "cfg.yaml", model, length) == expected
