"""A model's configuration: read from its directory, checked, and changed by the keys that the user adds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import transformers
from transformers import CONFIG_MAPPING, AutoConfig, PreTrainedConfig

from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError
from automodel_core.model_files.place import read_config_json


def read_configuration(
    directory: Path, overrides: Mapping[str, Any], *, trust_remote_code: bool, own_keys: tuple[str, ...]
) -> PreTrainedConfig:
    """Return the configuration in ``directory`` with ``overrides`` applied.

    ``own_keys`` are the keys that the model class takes itself, for suggestions. Raises :class:`InputError`.
    """
    content = read_config_json(directory)
    _check_known(content, directory, trust_remote_code)
    config = _made(lambda: AutoConfig.from_pretrained(directory, trust_remote_code=trust_remote_code))
    decoded, _ = PreTrainedConfig.get_config_dict(directory)  # transformers writes what JSON cannot say in its own way
    changed = override(config, {**decoded, "model_type": config.model_type}, overrides, own_keys)
    changed.name_or_path = str(directory)
    return changed


def configuration_from(
    values: Mapping[str, Any], overrides: Mapping[str, Any], own_keys: tuple[str, ...]
) -> PreTrainedConfig:
    """Return the configuration that ``values``, which name their ``model_type``, describe."""
    _check_known(values, None, False)
    config = _made(lambda: CONFIG_MAPPING[values["model_type"]].from_dict(dict(values)))
    return override(config, dict(values), overrides, own_keys)


def override(
    config: PreTrainedConfig, content: Mapping[str, Any], overrides: Mapping[str, Any], own_keys: tuple[str, ...]
) -> PreTrainedConfig:
    """Return ``config`` made again from ``content`` with ``overrides``, so that what it derives follows.

    Raises :class:`InputError` for keys that the architecture does not have, and for values that it refuses or takes no
    notice of.
    """
    if not overrides:
        return config
    known = set(config.to_dict()) | set(type(config).attribute_map)
    unknown = [
        key for key in overrides if key not in known and not isinstance(getattr(type(config), key, None), property)
    ]
    if unknown:
        raise InputError([_unknown(key, config, sorted(known), own_keys) for key in unknown])
    # Files of other releases may spell a key in the architecture's other way: one spelling, or the old value wins.
    spelling = type(config).attribute_map
    merged = {spelling.get(key, key): value for key, value in content.items()}
    for key, value in overrides.items():
        old = merged.get(spelling.get(key, key))
        if isinstance(old, dict) and isinstance(value, dict):
            value = {**old, **value}
        merged[spelling.get(key, key)] = value
    changed = _made(lambda: type(config).from_dict(merged))
    ignored = [key for key, value in overrides.items() if not _took_effect(changed, key, value)]
    if ignored:
        raise InputError([_ignored(key, overrides[key], changed) for key in ignored])
    return changed


def check_architecture(config: PreTrainedConfig, auto_class: str, *, trust_remote_code: bool) -> None:
    """Raise :class:`InputError` when transformers has no model of the kind ``auto_class`` for ``config``."""
    if trust_remote_code and auto_class in (getattr(config, "auto_map", None) or {}):
        return
    if type(config) not in getattr(transformers, auto_class)._model_mapping:
        architectures = ", ".join(f"`{name}`" for name in config.architectures or ()) or f"`{config.model_type}`"
        raise InputError(
            Diagnostic(
                "AM404",
                f"{architectures} (model type `{config.model_type}`) has no form that `{auto_class}` can build",
                helps=("choose a model of the kind that this `_target_` is for, or another `_target_`",),
            )
        )
    if getattr(config, "quantization_config", None):
        raise InputError(
            Diagnostic(
                "AM413",
                f"the weights of `{config.name_or_path}` are quantized, and quantized weights cannot be trained",
                helps=("use the original weights, or convert these to bfloat16 first",),
            )
        )


def _check_known(content: Mapping[str, Any], directory: Path | None, trust_remote_code: bool) -> None:
    where = "the model's configuration" if directory is None else f"`{directory / 'config.json'}`"
    model_type = content.get("model_type")
    if model_type in CONFIG_MAPPING:
        return
    if "AutoConfig" in (content.get("auto_map") or {}):
        if not trust_remote_code:
            raise InputError(
                Diagnostic(
                    "AM405",
                    f"`{directory}` brings its own code for the model type `{model_type}`, which is not run unasked",
                    helps=("read that code, and set `model.trust_remote_code` to true if you trust it",),
                )
            )
        return
    if model_type is None:
        raise InputError(Diagnostic("AM403", f"{where} does not say its `model_type`"))
    raise InputError(
        Diagnostic(
            "AM403",
            f"{where} has the model type `{model_type}`, which transformers {transformers.__version__} does not know",
            helps=did_you_mean(str(model_type), CONFIG_MAPPING) or ("a newer transformers may know it",),
        )
    )


def _made(make: Any) -> PreTrainedConfig:
    try:
        config: PreTrainedConfig = make()
    except Exception as error:  # the library's own code, which raises anything for a value that it did not foresee
        reason = " ".join(str(error).split())
        raise InputError(Diagnostic("AM407", f"the model's configuration is refused: {reason}")) from error
    return config


def _took_effect(config: PreTrainedConfig, key: str, value: Any) -> bool:
    actual = getattr(config, key)
    if isinstance(value, (dict, PreTrainedConfig)) or isinstance(actual, (dict, PreTrainedConfig)):
        return True  # merged into what was there
    return bool(actual == value or (isinstance(actual, tuple) and list(actual) == value))


def _unknown(key: str, config: PreTrainedConfig, known: list[str], own_keys: tuple[str, ...]) -> Diagnostic:
    helps = did_you_mean(key, [*own_keys, *known]) or (
        f"extra keys of `model` go to the architecture's configuration, which has {', '.join(known[:12])}, …",
    )
    return Diagnostic("AM406", f"`{type(config).__name__}` has no key `{key}`", helps=helps)


def _ignored(key: str, value: Any, config: PreTrainedConfig) -> Diagnostic:
    return Diagnostic(
        "AM407",
        f"`{type(config).__name__}` takes no notice of `{key}`: it stays {getattr(config, key)!r}, not {value!r}",
        helps=("the architecture derives it from another key of its configuration",),
    )
