"""A Llama in plain PyTorch, as a careful author would write it: what a loop costs without a library's model."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from peers.workloads import ALPHA, LORA_TARGETS, RANK


class LoRALinear(nn.Module):
    """``y = W x + (alpha / rank) B A x`` with W frozen."""

    def __init__(self, base: nn.Linear, a: torch.Tensor, b: torch.Tensor) -> None:
        super().__init__()
        self.base, self.a, self.b = base, nn.Parameter(a.clone()), nn.Parameter(b.clone())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        update = functional.linear(functional.linear(x, self.a), self.b)
        return self.base(x) + update * (ALPHA / RANK)


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Apply rotary positions to (batch, heads, length, size)."""
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


class Block(nn.Module):
    """Attention and a gated MLP; ``fused`` joins the projections that read the same input."""

    def __init__(self, config: dict[str, Any], fused: bool) -> None:
        super().__init__()
        width, inner = config["hidden_size"], config["intermediate_size"]
        self.size = width // config["num_attention_heads"]
        self.kv_width = config["num_key_value_heads"] * self.size
        self.width, self.fused = width, fused
        self.input_norm = nn.RMSNorm(width, config["rms_norm_eps"])
        self.output_norm = nn.RMSNorm(width, config["rms_norm_eps"])

        def linear(inputs: int, outputs: int) -> nn.Linear:
            return nn.Linear(inputs, outputs, bias=False)

        if fused:
            self.qkv, self.gate_up = linear(width, width + 2 * self.kv_width), linear(width, 2 * inner)
        else:
            self.q_proj = linear(width, width)
            self.k_proj, self.v_proj = linear(width, self.kv_width), linear(width, self.kv_width)
            self.gate_proj, self.up_proj = linear(width, inner), linear(width, inner)
        self.o_proj, self.down_proj = linear(width, width), linear(inner, width)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        y = self.input_norm(x)
        if self.fused:
            projected = self.qkv(y).split([self.width, self.kv_width, self.kv_width], -1)
        else:
            projected = self.q_proj(y), self.k_proj(y), self.v_proj(y)
        q, k, v = (z.unflatten(-1, (-1, self.size)).transpose(1, 2) for z in projected)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o_proj(attended.transpose(1, 2).flatten(2))
        y = self.output_norm(x)
        gate, up = self.gate_up(y).chunk(2, -1) if self.fused else (self.gate_proj(y), self.up_proj(y))
        return x + self.down_proj(functional.silu(gate) * up)


class Llama(nn.Module):
    """Token ids to logits."""

    def __init__(self, config: dict[str, Any], fused: bool) -> None:
        super().__init__()
        self.embed = nn.Embedding(config["vocab_size"], config["hidden_size"])
        self.blocks = nn.ModuleList(Block(config, fused) for _ in range(config["num_hidden_layers"]))
        self.norm = nn.RMSNorm(config["hidden_size"], config["rms_norm_eps"])
        self.head = nn.Linear(config["hidden_size"], config["vocab_size"], bias=False)
        size = config["hidden_size"] // config["num_attention_heads"]
        frequencies = 1.0 / config["rope_parameters"]["rope_theta"] ** (torch.arange(0, size, 2).float() / size)
        angles = torch.outer(torch.arange(config["max_position_embeddings"]).float(), frequencies).repeat(1, 2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        length = ids.shape[1]
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x, self.cos[:length], self.sin[:length])
        return self.head(self.norm(x))

    def load_hugging_face(self, weights: dict[str, torch.Tensor]) -> None:
        """Take the weights of ``LlamaForCausalLM``."""
        state = {
            "embed.weight": weights["model.embed_tokens.weight"],
            "norm.weight": weights["model.norm.weight"],
            "head.weight": weights["lm_head.weight"],
        }
        for index, block in enumerate(self.blocks):
            theirs, ours = f"model.layers.{index}.", f"blocks.{index}."
            named = {part: weights[f"{theirs}{_room(part)}.{part}.weight"] for part in LORA_TARGETS}
            if block.fused:
                qkv, gate_up = [named.pop(f"{p}_proj") for p in "qkv"], [named.pop(f"{p}_proj") for p in ("gate", "up")]
                named |= {"qkv": torch.cat(qkv), "gate_up": torch.cat(gate_up)}
            named["input_norm"] = weights[f"{theirs}input_layernorm.weight"]
            named["output_norm"] = weights[f"{theirs}post_attention_layernorm.weight"]
            state |= {f"{ours}{part}.weight": weight for part, weight in named.items()}
        self.load_state_dict(state)

    def add_adapters(self, weights: dict[str, torch.Tensor]) -> None:
        """Freeze everything and add the adapters of a peft file."""
        self.requires_grad_(False)
        for index, block in enumerate(self.blocks):
            for part in LORA_TARGETS:
                key = f"base_model.model.model.layers.{index}.{_room(part)}.{part}.lora_"
                adapted = LoRALinear(getattr(block, part), weights[f"{key}A.weight"], weights[f"{key}B.weight"])
                setattr(block, part, adapted)


def _room(part: str) -> str:
    return "self_attn" if part[0] in "qkvo" else "mlp"
