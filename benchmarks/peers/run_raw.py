"""A loop written by hand: over transformers' model (``hf``), or over a model written by hand too (``own``)."""

from __future__ import annotations

import json

import torch
from torch import nn
from torch.nn import functional

from peers.meter import Meter
from peers.workloads import DATA, MAX_NORM, Workload, batches, optimizer_settings, parse_run


def own_model(workload: Workload) -> nn.Module:
    from safetensors.torch import load_file

    from peers.llama import Llama

    config = json.loads((DATA / workload.model / "config.json").read_text(encoding="utf-8"))
    model = Llama(config, fused=not workload.lora)
    model.load_hugging_face(load_file(DATA / workload.model / "model.safetensors"))
    if workload.lora:
        model.add_adapters(load_file(DATA / workload.adapter / "adapter_model.safetensors"))
    return model


def own_loss(model: nn.Module, ids: torch.Tensor) -> torch.Tensor:
    labels = functional.pad(ids[:, 1:], (0, 1), value=-100)
    return functional.cross_entropy(model(ids).flatten(0, 1), labels.flatten())


def hugging_face_loss(model: nn.Module, ids: torch.Tensor) -> torch.Tensor:
    return model(input_ids=ids, labels=ids.clone()).loss


def main() -> None:
    run = parse_run(("hf", "own"))
    torch.manual_seed(0)
    if run.variant == "own":
        model, loss_of = own_model(run.workload), own_loss
    else:
        from peers.model_files import load_model

        model, loss_of = load_model(run.workload), hugging_face_loss
    model.train()
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, **optimizer_settings())
    meter = Meter()
    for batch in batches(run.workload, run.steps):
        loss = loss_of(model, torch.tensor(batch))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, MAX_NORM)
        optimizer.step()
        optimizer.zero_grad()
        meter.step_ended(loss.item())
    meter.emit(run.workload.tokens)


if __name__ == "__main__":
    main()
