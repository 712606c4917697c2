from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import chat_templates
import pytest
from chat_templates import make_chat_tokenizer
from tiny import make_tokenizer

from automodel_core.cache import CACHE_VARIABLE


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """A cache of the test's own."""
    directory = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv(CACHE_VARIABLE, str(directory))
    return directory


@pytest.fixture(scope="session")
def tokenizer_directory(tmp_path_factory):
    """A real byte-level BPE tokenizer trained on a few sentences."""
    return make_tokenizer(tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture(scope="session")
def chat_tokenizer(tmp_path_factory) -> Callable[[str], Path]:
    """Return the directory of a tokenizer with one of the small templates, by the template's name."""
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in made:
            directory = tmp_path_factory.mktemp(name.lower())
            made[name] = make_chat_tokenizer(directory, getattr(chat_templates, name))
        return made[name]

    return make


@pytest.fixture
def json_lines(tmp_path) -> Callable[..., str]:
    """Write rows as JSON lines and return the path."""

    def write(*rows: object, name: str = "rows.jsonl") -> str:
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        return str(path)

    return write
