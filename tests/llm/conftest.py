from __future__ import annotations

import pytest
from tiny import make_tokenizer


@pytest.fixture(scope="session")
def tokenizer_directory(tmp_path_factory):
    """A real byte-level BPE tokenizer trained on a few sentences."""
    return make_tokenizer(tmp_path_factory.mktemp("tokenizer"))
