"""Samples longer than a model knows positions: refused where it embeds them, a warning where it computes them."""

import pytest
import torch
from tiny import llama_config
from transformers import AutoModelForCausalLM, GPT2Config

from automodel_core.adapters.position_check import check_positions
from automodel_core.errors import InputError

LLAMA = llama_config(max_position_embeddings=32)
GPT2 = GPT2Config(n_layer=1, n_head=2, n_embd=16, n_positions=32, vocab_size=50)


@pytest.fixture
def make():
    def build(config):
        with torch.device("meta"):
            return AutoModelForCausalLM.from_config(config)

    return build


@pytest.mark.parametrize("config", [LLAMA, GPT2])
def test_as_many_tokens_as_positions_are_fine(make, config, capsys):
    check_positions(make(config), 32, None)
    assert capsys.readouterr().err == ""


def test_computed_positions_go_on_with_a_warning(make, capsys):
    check_positions(make(LLAMA), 33, None)
    err = capsys.readouterr().err
    assert "warning: the longest sample has 33 tokens, and the model was made for 32 positions" in err
    assert "`dataset.max_seq_length: 32`" in err


def test_embedded_positions_end_where_they_end(make):
    with pytest.raises(InputError, match="33 tokens") as error:
        check_positions(make(GPT2), 33, None)
    assert error.value.diagnostics[0].code == "AM435"


def test_a_module_of_one_s_own_is_left_alone(capsys):
    check_positions(torch.nn.Linear(2, 2), 10**6, None)
    assert capsys.readouterr().err == ""
