"""Loading a tokenizer, once for each place it comes from."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import tokenizers
import transformers
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from automodel_core.adapters.location import model_directory
from automodel_core.data.fingerprints import digest_of_value
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError


def load_tokenizer(name_or_path: str, *, trust_remote_code: bool = False) -> PreTrainedTokenizerBase:
    """Return the tokenizer in a local directory (no network) or of a hub id; the same one as long as its files are.

    Raises :class:`InputError`: AM401 or AM409 when there is no such place, AM310 when it holds no tokenizer.
    """
    directory = Path(name_or_path)
    if not directory.is_dir() and _looks_like_a_path(name_or_path):
        helps = ("name a directory with `tokenizer.json`, or a model id of the Hugging Face hub: `org/name`",)
        raise InputError(Diagnostic("AM310", f"the tokenizer directory `{name_or_path}` does not exist", helps=helps))
    # One question to the hub, not one for each file that a tokenizer might have.
    found = model_directory(name_or_path, revision=None, weights=False)
    return _load(str(found), trust_remote_code, str(found.resolve()), _state_of_files(found))


@lru_cache(maxsize=8)
def _load(
    directory: str, trust_remote_code: bool, _resolved: str, _state: tuple[object, ...]
) -> PreTrainedTokenizerBase:
    try:
        return AutoTokenizer.from_pretrained(directory, local_files_only=True, trust_remote_code=trust_remote_code)
    except Exception as error:  # the library's own code, which raises anything for a file that it did not foresee
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        helps = ("name a directory with `tokenizer.json` in `tokenizer.name_or_path`",)
        message = f"no tokenizer can be loaded from `{directory}`: {reason}"
        raise InputError(Diagnostic("AM310", message, helps=helps)) from None


def _state_of_files(directory: Path) -> tuple[object, ...]:
    """Return what changes when a file of the directory does, weights apart."""
    files = sorted(p for p in directory.iterdir() if p.suffix != ".safetensors" and p.is_file())
    return tuple((p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in files)


def tokenizer_fingerprint(tokenizer: Any) -> str:
    """Return the digest of all that decides how the tokenizer encodes: vocabulary, rules, special tokens, templates."""
    if tokenizer.is_fast:
        backend = tokenizer.backend_tokenizer
        backend.no_padding()  # what the last call asked for is part of the state; the next call says it again
        backend.no_truncation()
        rules = backend.to_str()
    else:
        rules = sorted(tokenizer.get_vocab().items())
    added = {number: str(token) for number, token in tokenizer.added_tokens_decoder.items()}
    parts = [type(tokenizer).__qualname__, rules, added, tokenizer.special_tokens_map, tokenizer.chat_template]
    return digest_of_value([*parts, transformers.__version__, tokenizers.__version__])


def _looks_like_a_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or name.count("/") > 1 or Path(name).exists()
