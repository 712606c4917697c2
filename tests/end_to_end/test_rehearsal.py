"""Optimizers and schedules that would fail at some step are refused before the first."""

import pytest

import automodel_core as am

ADAMW = {"_target_": "torch.optim.AdamW", "lr": 1e-3}
SCHEDULES = "torch.optim.lr_scheduler"

CASES = {
    "a closure": ({"_target_": "torch.optim.LBFGS"}, None, "closure"),
    "sparse gradients": ({"_target_": "torch.optim.SparseAdam"}, None, "dense gradients"),
    "two ways at once": ({**ADAMW, "fused": True, "foreach": True}, None, "fused"),
    "a figure": (ADAMW, {"_target_": f"{SCHEDULES}.ReduceLROnPlateau"}, "needs a figure at every step"),
    "division by zero": (ADAMW, {"_target_": f"{SCHEDULES}.StepLR", "step_size": 0}, "zero"),
    "too few steps": (
        ADAMW,
        {"_target_": f"{SCHEDULES}.OneCycleLR", "max_lr": 1e-3, "total_steps": 2},
        "at step 3, Tried to step 3 times",
    ),
    "a negative rate": (
        ADAMW,
        {"_target_": f"{SCHEDULES}.ExponentialLR", "gamma": -5},
        "learning rate is -0.005 after step 1",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_would_fail_at_a_step_is_refused_before_the_first(small_config, tmp_path, case):
    optimizer, schedule, says = CASES[case]
    config = {**small_config, "optimizer": optimizer, "lr_scheduler": schedule}
    config["step_scheduler"] = {"max_steps": 4}
    with pytest.raises(am.InputError, match=says) as error:
        am.run(config, route="finetune llm")
    (problem,) = error.value.diagnostics
    assert problem.code in ("AM212", "AM213")
    assert problem.span is not None
    assert not list(tmp_path.glob("run/step-*"))


@pytest.mark.parametrize(
    "schedule",
    [
        {"_target_": f"{SCHEDULES}.OneCycleLR", "max_lr": 1e-3},
        {"_target_": f"{SCHEDULES}.CosineAnnealingLR", "T_max": 4},
        {"_target_": "CosineAnnealingWarmup", "warmup_steps": 1},
    ],
)
def test_a_rehearsal_leaves_the_run_as_it_was(small_config, schedule):
    config = {**small_config, "optimizer": ADAMW, "lr_scheduler": schedule, "step_scheduler": {"max_steps": 2}}
    run = am.run(config, route="finetune llm").run
    assert run.scheduler.step == 2
    assert run.lr_scheduler.last_epoch == 2


def test_what_only_the_run_can_give_is_refused(small_config):
    with pytest.raises(am.InputError, match=r"`params` of `torch\.optim\.AdamW` is what the run gives it"):
        am.run({**small_config, "optimizer": {**ADAMW, "params": []}}, route="finetune llm")
