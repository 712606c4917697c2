"""One vector of a text is of its own tokens, on whichever side the padding is."""

import pytest
import torch

from automodel_core import InputError
from automodel_retrieval.models.pooling import pooled, pooling_named

TOKENS = torch.arange(12.0).reshape(3, 4)


def padded(left: int, right: int) -> tuple[torch.Tensor, torch.Tensor]:
    rubbish = torch.full((left + right, 4), 1e6)
    hidden = torch.cat([rubbish[:left], TOKENS, rubbish[left:]])[None]
    mask = torch.tensor([[0] * left + [1] * 3 + [0] * right])
    return hidden, mask


@pytest.mark.parametrize(("left", "right"), [(0, 0), (2, 0), (0, 2), (1, 2)])
@pytest.mark.parametrize(
    ("pooling", "expected"), [("mean", TOKENS.mean(0)), ("cls", TOKENS[0]), ("last_token", TOKENS[-1])]
)
def test_padding_on_either_side_changes_nothing(left, right, pooling, expected):
    torch.testing.assert_close(pooled(*padded(left, right), pooling)[0], expected)


def test_names_of_other_systems_are_understood_and_others_refused():
    assert [pooling_named(name) for name in ("avg", "last", "cls")] == ["mean", "last_token", "cls"]
    with pytest.raises(InputError, match="`pooling` is `meen`"):
        pooling_named("meen")
