"""Cross-checks: what is wrong, or not what was meant, although every section is right by itself."""

from __future__ import annotations

from automodel_core.config.rules.arguments import component_arguments
from automodel_core.config.rules.backend import gpu_backend_without_gpus
from automodel_core.config.rules.batch import global_batch
from automodel_core.config.rules.effect import checkpoint_keys_without_checkpoints, validation_dataloader_without_data
from automodel_core.config.rules.intervals import (
    checkpoint_interval_beyond_end,
    log_interval_beyond_end,
    val_check_interval_beyond_end,
    warmup_beyond_end,
)
from automodel_core.config.rules.layout import layout
from automodel_core.config.rules.meaningless import keys_without_meaning
from automodel_core.config.rules.positions import samples_beyond_positions
from automodel_core.config.rules.rule import Rule, Situation, apply_rules
from automodel_core.config.rules.spelling import notes_of_aliases
from automodel_core.config.rules.validation import cadence_without_validation_data, validation_data_without_cadence

RULES: tuple[Rule, ...] = (
    Rule(layout, reads=("distributed", "model", "dataset", "dataloader", "step_scheduler")),
    Rule(global_batch, reads=("distributed", "dataloader", "step_scheduler")),
    Rule(gpu_backend_without_gpus, reads=("dist_env",)),
    Rule(warmup_beyond_end, reads=("step_scheduler", "lr_scheduler")),
    Rule(val_check_interval_beyond_end, reads=("step_scheduler",)),
    Rule(checkpoint_interval_beyond_end, reads=("step_scheduler",)),
    Rule(log_interval_beyond_end, reads=("step_scheduler",)),
    Rule(validation_data_without_cadence, reads=("step_scheduler", "validation_dataset")),
    Rule(cadence_without_validation_data, reads=("step_scheduler", "validation_dataset")),
    Rule(checkpoint_keys_without_checkpoints, reads=("checkpoint", "step_scheduler")),
    Rule(validation_dataloader_without_data, reads=("validation_dataloader", "validation_dataset")),
    Rule(samples_beyond_positions, reads=("model", "dataset")),
    Rule(notes_of_aliases),
)
"""What the config says alone, with the model's ``config.json`` where that is here."""

ARGUMENT_RULES = (Rule(component_arguments),)
"""What a run asks the imported targets themselves, asked of their sources where nothing is to be imported."""

NOTES = (Rule(keys_without_meaning),)
"""What is said to who asks about a config, and not at each run of it."""

__all__ = ["ARGUMENT_RULES", "NOTES", "RULES", "Rule", "Situation", "apply_rules"]
