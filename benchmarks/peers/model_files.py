"""The model that the peers built on transformers train."""

from __future__ import annotations

import torch
from torch import nn

from peers.workloads import DATA, Workload


def load_model(workload: Workload) -> nn.Module:
    """Return the Llama with the initial weights, under ``peft`` with the initial adapter for LoRA."""
    from transformers import LlamaForCausalLM

    model = LlamaForCausalLM.from_pretrained(DATA / workload.model, dtype=torch.float32)
    if not workload.lora:
        return model
    from peft import PeftModel

    return PeftModel.from_pretrained(model, DATA / workload.adapter, is_trainable=True)
