"""The product's numbers are those of a loop written by hand over plain transformers."""

import copy

import pytest
import torch
from torch.nn import functional as F
from transformers import AutoModelForCausalLM

import automodel_core as am
from automodel_core.data.order import GlobalOrder
from automodel_llm.data.collate import PaddedCollate


def hand_written_losses(config, *, batch_size, accumulation, steps, max_norm=1.0):
    """Return the loss of each step and the model, trained without anything of ours but the data order."""
    from automodel_llm.data.squad import SquadDataset

    arguments = {k: v for k, v in config["dataset"].items() if k != "_target_"}
    dataset = SquadDataset(**arguments, validation_fraction=0)
    model = AutoModelForCausalLM.from_pretrained(config["model"]["name_or_path"], dtype=torch.float32).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["optimizer"]["lr"])
    order, losses, epoch = GlobalOrder(len(dataset), 42), [], 0
    batches = iter(())
    while len(losses) < steps:
        group = []
        while len(group) < accumulation:
            indices = next(batches, None)
            if indices is None:
                if group:
                    break
                batches, epoch = order.batches(epoch, batch_size), epoch + 1
                continue
            group.append(PaddedCollate(1)([dataset[i] for i in indices]))
        count = sum(int((b["labels"] != -100).sum()) for b in group)
        total = 0.0
        for batch in group:
            inputs = {k: v for k, v in batch.items() if k != "labels"}
            logits = model(**inputs, use_cache=False).logits
            loss = F.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten(), reduction="sum") / count
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total)
    return losses, model


def run_losses(config, records):
    recipe = am.run(config, route="finetune llm")
    return [s["loss"] for s in records(config["checkpoint"]["directory"], "step")], recipe.run.model


@pytest.mark.parametrize(("batch_size", "accumulation"), [(2, 2), (3, 1), (1, 4)])
def test_losses_and_weights_equal_a_hand_written_loop(small_config, records, batch_size, accumulation):
    small_config["dataloader"]["batch_size"] = batch_size
    small_config["step_scheduler"] = {"max_steps": 12, "grad_accumulation_steps": accumulation}
    losses, model = run_losses(small_config, records)
    expected, reference = hand_written_losses(small_config, batch_size=batch_size, accumulation=accumulation, steps=12)
    assert losses == pytest.approx(expected, rel=1e-6)
    for (name, ours), theirs in zip(model.named_parameters(), reference.parameters(), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6), name


def test_the_loss_does_not_depend_on_how_a_group_is_cut_into_micro_batches(small_config, records, tmp_path):
    """The same eight ragged samples a step as 1 × 8, 2 × 4, 4 × 2 and 8 × 1."""
    results = []
    for batch_size in (1, 2, 4, 8):
        config = copy.deepcopy(small_config)
        config["dataloader"]["batch_size"] = batch_size
        config["step_scheduler"] = {"max_steps": 4, "grad_accumulation_steps": 8 // batch_size}
        config["checkpoint"]["directory"] = str(tmp_path / str(batch_size))
        losses, model = run_losses(config, records)
        results.append((losses, torch.cat([p.detach().flatten() for p in model.parameters()])))
    for losses, weights in results[1:]:
        assert losses == pytest.approx(results[0][0], rel=1e-6)
        assert torch.allclose(weights, results[0][1], atol=1e-6)


def test_validation_loss_equals_one_computed_over_all_tokens_at_once(small_config, records):
    small_config["validation_dataset"] = {"split": "validation"}
    small_config["step_scheduler"] |= {"val_check_interval": 2}
    recipe = am.run(small_config, route="finetune llm")
    model, loader = recipe.run.model.eval(), recipe.run.validation["validation"]
    with torch.no_grad():
        batch = PaddedCollate(1)([loader.dataset[i] for i in range(len(loader.dataset))])
        logits = model(batch["input_ids"], attention_mask=batch.get("attention_mask")).logits
        expected = F.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())
    validations = records(small_config["checkpoint"]["directory"], "validation")
    assert [v["step"] for v in validations] == [2, 4]
    assert validations[-1]["loss"] == pytest.approx(float(expected), rel=1e-5)
