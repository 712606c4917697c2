"""From checkpoint keys to parameter names and back, with transformers' own conversion, on sources instead of tensors.

The forward direction follows ``transformers.core_model_loading.convert_and_load_state_dict_in_model`` step by step;
the reverse is transformers' ``revert_weight_conversion`` unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import torch
from transformers import PreTrainedModel
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import (
    WeightConverter,
    WeightRenaming,
    dot_natural_key,
    rename_source_key,
    revert_weight_conversion,
)

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.infrastructure.blueprint import BoundNames
from automodel_core.infrastructure.weights import Cast, WeightSource


def bind_checkpoint(model: PreTrainedModel, checkpoint: Mapping[str, WeightSource]) -> BoundNames:
    """Match ``checkpoint`` with the names of ``model``. Remembers on the model which conversions were used.

    transformers keeps that memory on the model itself, so that saving writes the names the checkpoint came with.
    """
    mapping = get_model_conversion_mapping(model)
    names: dict[str, torch.Tensor] = model.state_dict(keep_vars=True)
    groups, unused = _group(model, mapping, checkpoint, names)
    sources = _convert(model, groups)
    used = [conversion for conversion in mapping if conversion.was_used()]
    model._weight_conversions = used  # type: ignore[assignment]
    unbound = sorted(set(names) - set(sources))
    return BoundNames(
        sources=sources,
        unused=tuple(key for key, renamed in unused.items() if not _ignorable_unused(model, renamed)),
        unbound=tuple(unbound),
        optional=frozenset(name for name in unbound if _matches(model._keys_to_ignore_on_load_missing, name)),
    )


def unbind_checkpoint(model: PreTrainedModel, sources: Mapping[str, WeightSource]) -> dict[str, WeightSource]:
    """Return the keys that ``save_pretrained`` would write, as sources over those of ``model``'s names."""
    dropped = set(model.all_tied_weights_keys) | set(model._keys_to_ignore_on_save or ())
    kept = {name: source for name, source in sources.items() if name not in dropped}
    return dict(revert_weight_conversion(model, kept))  # type: ignore[arg-type]  # sources, not tensors


def _group(
    model: PreTrainedModel,
    mapping: list[Any],
    checkpoint: Mapping[str, WeightSource],
    names: dict[str, torch.Tensor],
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the conversions by the first name each makes, and the unused keys with what they were renamed to."""
    renamings = [entry for entry in mapping if isinstance(entry, WeightRenaming)]
    converters = [entry for entry in mapping if isinstance(entry, WeightConverter)]
    by_pattern = {pattern: converter for converter in converters for pattern in converter.source_patterns}
    prefix = model.base_model_prefix
    groups: dict[str, Any] = {}
    unused: dict[str, str] = {}
    for key in sorted(checkpoint, key=dot_natural_key):
        renamed, pattern = rename_source_key(key, renamings, converters, prefix, names)
        if renamed not in names and key in names:
            renamed, pattern = rename_source_key(key, [], [], base_model_prefix=prefix, meta_state_dict=names)
        if renamed not in names:
            unused[key] = renamed
            continue
        conversion = WeightRenaming(key, renamed) if pattern is None else deepcopy(by_pattern[pattern])
        group = groups.setdefault(renamed, conversion)
        # transformers casts before it converts, which matters to operations that compute
        group.add_tensor(renamed, key, pattern or key, _cast(checkpoint[key], names[renamed].dtype))
    return groups, unused


def _cast(source: WeightSource, dtype: torch.dtype) -> WeightSource:
    return source if source.dtype == dtype else Cast(source, dtype)


def _convert(model: PreTrainedModel, groups: Mapping[str, Any]) -> dict[str, WeightSource]:
    sources: dict[str, WeightSource] = {}
    problems: list[Diagnostic] = []
    for first, group in groups.items():
        try:
            converted = group.convert(first, model=model, config=model.config)
        except (ValueError, RuntimeError, IndexError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            problems.append(
                Diagnostic(
                    "AM416",
                    f"`{first}` cannot be put together from the weights in the files: {reason}",
                    helps=("the configuration may describe other sizes or another number of experts",),
                )
            )
            continue
        for name, source in converted.items():
            sources[name] = source[0] if isinstance(source, list) else source
    if problems:
        raise InputError(problems)
    return sources


def _ignorable_unused(model: PreTrainedModel, renamed: str) -> bool:
    """Say whether transformers drops this key in silence, as its ``_adjust_missing_and_unexpected_keys`` does."""
    patterns = set(model._keys_to_ignore_on_load_unexpected or ())
    buffers = [name for name, _ in model.named_buffers()]
    if any(name.endswith("rotary_emb.inv_freq") for name in buffers):
        patterns.add(r"rotary_emb\.inv_freq")  # saved once per layer by old releases
    if any(name.endswith("position_ids") for name in buffers):
        patterns.add(r"(^|\.)position_ids$")
    return _matches(patterns, renamed)


def _matches(patterns: Any, name: str) -> bool:
    return any(re.search(pattern, name) for pattern in patterns or ())
