import pytest
import torch
from torch import nn

from automodel_core.errors import InputError
from automodel_core.training.batch_keys import check_model_inputs


class Model(nn.Module):
    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        return input_ids


class OpenModel(nn.Module):
    def forward(self, input_ids: torch.Tensor, **kwargs: object) -> torch.Tensor:
        return input_ids


def test_a_batch_that_fits_passes():
    check_model_inputs(Model(), ["input_ids", "attention_mask"])


def test_a_key_that_forward_does_not_take_is_named_with_the_nearest():
    with pytest.raises(InputError) as error:
        check_model_inputs(Model(), ["input_ids", "atention_mask"])
    (problem,) = error.value.diagnostics
    assert "`atention_mask`" in problem.message
    assert problem.helps == ("did you mean `attention_mask`?",)


def test_a_required_argument_that_the_batch_lacks_is_named():
    with pytest.raises(InputError, match="needs `input_ids`"):
        check_model_inputs(Model(), ["attention_mask"])


def test_a_model_that_takes_anything_still_refuses_a_misspelling():
    check_model_inputs(OpenModel(), ["input_ids", "cu_seqlens"])
    with pytest.raises(InputError, match="`input_idz`"):
        check_model_inputs(OpenModel(), ["input_ids", "input_idz"])
