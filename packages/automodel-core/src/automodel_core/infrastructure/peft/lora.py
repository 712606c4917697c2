"""LoRA on a linear layer, with the names of the layer's own parameters unchanged.

Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models" (arXiv:2106.09685); the scaling of ``use_rslora``
is Kalajdzievski 2023, "A Rank Stabilization Scaling Factor for Fine-Tuning with LoRA" (arXiv:2312.03732).
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional

from automodel_core.infrastructure.weights import Initialiser, uniform, zeros


class LoRALinear(nn.Linear):
    """``y = W x + b + scaling * B A dropout(x)``, with ``lora_A`` of (rank, in) and ``lora_B`` of (out, rank)."""

    lora_A: nn.Parameter
    lora_B: nn.Parameter
    lora_scaling: float
    lora_dropout: float

    @staticmethod
    def convert(layer: nn.Linear, *, rank: int, alpha: float, dropout: float, use_rslora: bool) -> LoRALinear:
        """Turn ``layer`` into a LoRA layer in place, so that every reference to it and every name stays valid.

        The adapter lies on the device of the weight. It is kept in float32 when the weight is in half precision: its
        updates are small against its values.
        """
        adapter_dtype = torch.promote_types(layer.weight.dtype, torch.float32)
        layer.__class__ = LoRALinear
        assert isinstance(layer, LoRALinear)
        layer.lora_scaling = alpha / (math.sqrt(rank) if use_rslora else rank)
        layer.lora_dropout = dropout
        device = layer.weight.device
        layer.lora_A = nn.Parameter(torch.empty(rank, layer.in_features, dtype=adapter_dtype, device=device))
        layer.lora_B = nn.Parameter(torch.empty(layer.out_features, rank, dtype=adapter_dtype, device=device))
        return layer

    def initialisers(self) -> dict[str, Initialiser]:
        """Return how the adapter starts: A as ``kaiming_uniform_(a=sqrt(5))``, B as zeros, so that it adds nothing."""
        bound = 1.0 / math.sqrt(self.in_features)
        return {"lora_A": uniform(-bound, bound), "lora_B": zeros()}

    @torch.no_grad()
    def merge(self) -> nn.Linear:
        """Fold the adapter into the weight and become a plain linear layer again.

        ``W + scaling * B A`` is formed in the adapter's precision and rounded once to the dtype of the weight.
        """
        update = self.lora_B @ self.lora_A * self.lora_scaling
        self.weight.copy_(self.weight.to(update.dtype) + update)
        del self.lora_A, self.lora_B, self.lora_scaling, self.lora_dropout
        self.__class__ = nn.Linear  # type: ignore[assignment]
        return self

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return the layer's output, in the dtype of its own weight's product.

        In eval mode the terms are formed and rounded one by one, as peft does, so that logits are equal bit for bit.
        """
        rows = input.reshape(-1, self.in_features)
        output = functional.linear(rows, self.weight, self.bias)
        dropped = functional.dropout(rows.to(self.lora_A.dtype), self.lora_dropout, self.training)
        narrow = functional.linear(dropped, self.lora_A)
        if self.training and output.dtype == narrow.dtype == self.lora_B.dtype:
            # One product that adds to the output: scaling and sum take no pass of their own, forward or backward.
            output = output.addmm_(narrow, self.lora_B.t(), alpha=self.lora_scaling)
        else:
            update = functional.linear(narrow, self.lora_B)
            output = (output + update * self.lora_scaling).to(output.dtype)
        return output.view(*input.shape[:-1], self.out_features)

    def extra_repr(self) -> str:
        """Return the layer's own description with the rank."""
        return f"{super().extra_repr()}, rank={self.lora_A.shape[0]}"
