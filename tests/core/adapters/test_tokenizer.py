from chat_templates import CHATML, make_chat_tokenizer
from tiny import make_tokenizer

from automodel_core.adapters.tokenizer import load_tokenizer, tokenizer_fingerprint


def test_a_tokenizer_is_loaded_once_for_a_place_and_again_when_its_files_change(tmp_path, monkeypatch):
    for name in ("a", "b"):
        make_tokenizer(tmp_path / name / "tokenizer")
    monkeypatch.chdir(tmp_path / "a")
    first = load_tokenizer("tokenizer")
    assert load_tokenizer("tokenizer") is first
    monkeypatch.chdir(tmp_path / "b")
    assert load_tokenizer("tokenizer") is not first
    make_chat_tokenizer(tmp_path / "b" / "tokenizer", CHATML)
    assert load_tokenizer("tokenizer").chat_template == CHATML.text


def test_the_fingerprint_is_of_the_tokenizer_and_not_of_what_it_was_last_used_for(tmp_path):
    tokenizer = load_tokenizer(str(make_tokenizer(tmp_path)))
    before = tokenizer_fingerprint(tokenizer)
    tokenizer(["a", "b c"], padding=True, truncation=True, max_length=2)
    assert tokenizer_fingerprint(tokenizer) == before
    tokenizer.add_tokens(["bird"])
    assert tokenizer_fingerprint(tokenizer) != before
