"""Other spellings of the keys that the diffusion domain reads."""

from __future__ import annotations

from typing import Final

from automodel_core.specs import KeyAlias, RetiredKey

_UNIT_INTERVAL: Final = "noise levels lie between 0 and 1: remove it"

KEY_ALIASES: Final = (
    KeyAlias("flow_matching.flow_shift", "flow_matching.shift"),
    KeyAlias("flow_matching.cfg_dropout_prob", "flow_matching.condition_dropout"),
)

RETIRED_KEYS: Final = (
    RetiredKey("flow_matching.sigma_min", (0.0,), otherwise=_UNIT_INTERVAL),
    RetiredKey("flow_matching.sigma_max", (1.0,), otherwise=_UNIT_INTERVAL),
    RetiredKey("flow_matching.mix_uniform_ratio", (0.0,)),
    RetiredKey("flow_matching.use_loss_weighting", (False,)),
    RetiredKey("flow_matching.i2v_prob", (0.0,)),
    RetiredKey("flow_matching.log_interval"),
    RetiredKey("flow_matching.summary_log_interval"),
)
