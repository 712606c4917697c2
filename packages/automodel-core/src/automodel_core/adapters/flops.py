"""Training FLOPs of one token, for the utilisation that a run reports.

Chowdhery et al. 2022, "PaLM" (arXiv:2204.02311), appendix B: 6 FLOPs for every parameter that multiplies the token
(2 forward, 2 for the gradient of the input, 2 for the gradient of the weight) and ``12 * heads * head size * sequence``
for each attention layer. Of a mixture of experts, the experts that a token visits count; a frozen weight has no
gradient, so it counts 4; a sliding window bounds the sequence. State-space scans and convolutions over time are left
out: they are small against the projections around them.
"""

from __future__ import annotations

from typing import Any

from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

_EXPERT_COUNTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
_ACTIVE_COUNTS = ("num_experts_per_tok", "moe_topk", "num_experts_per_token")


def flops_per_token(model: PreTrainedModel, sequence_length: int) -> float | None:
    """Return the FLOPs, or ``None`` when the configuration does not say how the model attends."""
    config = model.config.get_text_config()
    attention = _attention_flops(config, sequence_length)
    if attention is None:
        return None
    return attention + sum(_parameter_flops(model, config))


def _parameter_flops(model: PreTrainedModel, config: PreTrainedConfig) -> list[float]:
    share = _active_share(config)
    embeddings = {
        id(weight)
        for module in model.modules()
        if isinstance(module, nn.Embedding)
        for weight in module.parameters(recurse=False)
    }
    head = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    if head is not None:  # tied to an embedding or not, the head multiplies
        embeddings -= {id(weight) for weight in head.parameters()}
    flops = []
    for name, weight in model.named_parameters():
        if weight.ndim < 2 or id(weight) in embeddings:
            continue
        each = 6.0 if weight.requires_grad else 4.0
        routed = ".experts." in f".{name}."
        flops.append(each * weight.numel() * (share if routed else 1.0))
    return flops


def _active_share(config: PreTrainedConfig) -> float:
    experts, active = _first(config, _EXPERT_COUNTS), _first(config, _ACTIVE_COUNTS)
    return 1.0 if not experts or not active else active / experts


def _attention_flops(config: PreTrainedConfig, sequence_length: int) -> float | None:
    heads, layers = _first(config, ("num_attention_heads",)), _first(config, ("num_hidden_layers",))
    hidden = _first(config, ("hidden_size",))
    if not heads or not layers or not hidden:
        return None
    head_size = _first(config, ("head_dim",)) or hidden // heads
    window = _first(config, ("sliding_window",)) or sequence_length
    kinds = getattr(config, "layer_types", None) or ["full_attention"] * layers
    seen = {"full_attention": sequence_length, "sliding_attention": min(window, sequence_length)}
    return sum(12.0 * heads * head_size * seen.get(kind, 0) for kind in kinds)


def _first(config: PreTrainedConfig, names: tuple[str, ...]) -> int | None:
    """Read a number that architectures keep under different names."""
    values: list[Any] = [getattr(config, name, None) for name in names]
    return next((value for value in values if isinstance(value, int) and not isinstance(value, bool)), None)
