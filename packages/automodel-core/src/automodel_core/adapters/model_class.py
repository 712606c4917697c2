"""The base of the registered model classes: what ``_target_`` names, for whatever architecture a path's config has."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import torch
import transformers
from torch import nn
from transformers import GenerationConfig, PreTrainedConfig, PreTrainedModel
from transformers.utils import GENERATION_CONFIG_NAME

from automodel_core.adapters.configuration import check_architecture, configuration_from, override, read_configuration
from automodel_core.adapters.location import model_directory
from automodel_core.adapters.transformers import TransformersAdapter
from automodel_core.config.dtypes import AUTO, FLOATS, dtype_help, dtype_name
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.infrastructure.blueprint import Blueprint
from automodel_core.infrastructure.standalone import realise

_OWN_KEYS: Final = ("name_or_path", "config", "dtype", "attn_implementation", "trust_remote_code", "revision")


class TransformersModelClass:
    """Builds a transformers model of the kind that ``auto_class`` names. Calling the class is ``from_pretrained``.

    ``dtype`` defaults to float32, because trainable parameters are kept in full precision; ``auto`` takes the
    checkpoint's. ``torch_dtype`` is another name for it. Every other key changes the architecture's configuration.
    """

    auto_class: ClassVar[str] = ""

    def __new__(cls, name_or_path: Any = None, **kwargs: Any) -> Any:
        """Return ``from_pretrained(name_or_path, **kwargs)``: a module, not an instance of this class."""
        return cls.from_pretrained(name_or_path, **kwargs)

    @classmethod
    def from_pretrained(cls, name_or_path: Any = None, **kwargs: Any) -> nn.Module:
        """Return the pretrained model of a directory or hub id, on the CPU, in eval mode."""
        return realise(
            cls.blueprint("from_pretrained", name_or_path=name_or_path, **kwargs), torch.device("cpu"), 0
        ).eval()

    @classmethod
    def from_config(cls, name_or_path: Any = None, *, seed: int = 42, **kwargs: Any) -> nn.Module:
        """Return a model with weights drawn from ``seed``, described by a directory, a hub id or ``config``."""
        return realise(cls.blueprint("from_config", name_or_path=name_or_path, **kwargs), torch.device("cpu"), seed)

    @classmethod
    def blueprint(
        cls,
        method: str = "__call__",
        *,
        name_or_path: str | os.PathLike[str] | PreTrainedConfig | Mapping[str, Any] | None = None,
        config: PreTrainedConfig | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        dtype: str | torch.dtype | None = None,
        torch_dtype: str | torch.dtype | None = None,
        attn_implementation: str | None = None,
        trust_remote_code: bool = False,
        revision: str | None = None,
        **config_overrides: Any,
    ) -> Blueprint:
        """Return the model on the meta device, for the pipeline, instead of what ``method`` would build.

        ``method`` is ``"__call__"``, ``"from_pretrained"`` or ``"from_config"``. Raises :class:`InputError` for what
        cannot be built. A problem with one key has that key in backticks in its message.
        """
        if method not in ("__call__", "from_pretrained", "from_config"):
            raise ValueError(f"`{cls.__name__}` has no method `{method}` that builds a model")
        if not isinstance(trust_remote_code, bool):
            message = f"`trust_remote_code` must be true or false, it is `{trust_remote_code}`"
            raise InputError(Diagnostic("AM408", message))
        pretrained = method != "from_config"
        described = name_or_path if pretrained or config is None else config
        if pretrained:
            _check_named(cls.__name__, name_or_path, config)
        directory: Path | None = None
        if isinstance(described, (str, os.PathLike)):
            directory = model_directory(described, revision=revision, weights=pretrained)
            resolved = read_configuration(
                directory, config_overrides, trust_remote_code=trust_remote_code, own_keys=_OWN_KEYS
            )
        else:
            resolved = _given_configuration(cls.__name__, described, config_overrides)
        check_architecture(resolved, cls.auto_class, trust_remote_code=trust_remote_code)
        chosen = _dtype(_one_dtype(dtype, torch_dtype), resolved)
        model = _on_meta(cls.auto_class, resolved, chosen, attn_implementation, trust_remote_code)
        _read_generation_settings(model, directory)
        named = str(described) if pretrained else None
        return Blueprint(model, TransformersAdapter(), directory if pretrained else None, named)


def _check_named(class_name: str, name_or_path: object, config: object) -> None:
    """Raise :class:`InputError` unless a pretrained model is named, and nothing else is given to describe it."""
    if name_or_path is None:
        raise InputError(_nothing_named(class_name, "`model.name_or_path`"))
    if not isinstance(name_or_path, (str, os.PathLike)):
        raise InputError(Diagnostic("AM401", f"`name_or_path` must be a path or a model id, not {name_or_path!r}"))
    if config is not None:
        message = "`config` belongs to `from_config`; `from_pretrained` reads the one in the directory"
        raise InputError(Diagnostic("AM402", message))


def _given_configuration(class_name: str, described: Any, overrides: Mapping[str, Any]) -> PreTrainedConfig:
    if isinstance(described, PreTrainedConfig):
        own = copy.deepcopy(described)  # transformers writes the dtype it builds with into it
        return override(own, own.to_dict(), overrides, _OWN_KEYS)
    if isinstance(described, Mapping):
        return configuration_from(described, overrides, _OWN_KEYS)
    raise InputError(_nothing_named(class_name, "`model.name_or_path` or `model.config`"))


def _nothing_named(class_name: str, keys: str) -> Diagnostic:
    return Diagnostic(
        "AM401",
        f"`{class_name}` is not told which model to build",
        helps=(f"set {keys} to a directory or a model id of the Hugging Face hub",),
    )


def _one_dtype(dtype: str | torch.dtype | None, torch_dtype: str | torch.dtype | None) -> str | torch.dtype | None:
    """Return what the two names of one key say, which must be the same where both are given."""
    given = [asked for asked in (dtype, torch_dtype) if asked is not None]
    if len({dtype_name(str(asked)) or str(asked) for asked in given}) > 1:
        message = f"`torch_dtype` is another name of `dtype`, and the two differ: `{torch_dtype}` and `{dtype}`"
        raise InputError(Diagnostic("AM408", message, helps=("keep `dtype`",)))
    return given[0] if given else None


def _dtype(asked: str | torch.dtype | None, config: PreTrainedConfig) -> torch.dtype:
    if asked is None:
        return torch.float32
    if isinstance(asked, torch.dtype):
        return asked
    if dtype_name(str(asked)) == AUTO:
        return config.dtype if isinstance(config.dtype, torch.dtype) else torch.float32
    name = dtype_name(str(asked))
    if name not in FLOATS:
        message = f"`dtype` is `{asked}`, which parameters cannot have"
        raise InputError(Diagnostic("AM408", message, helps=(dtype_help(str(asked)),)))
    found: torch.dtype = getattr(torch, name)
    return found


def _on_meta(
    auto_class: str,
    config: PreTrainedConfig,
    dtype: torch.dtype,
    attn_implementation: str | None,
    trust_remote_code: bool,
) -> PreTrainedModel:
    chosen = {} if attn_implementation is None else {"attn_implementation": attn_implementation}
    builder = getattr(transformers, auto_class)
    try:
        with torch.device("meta"):
            model: PreTrainedModel = builder.from_config(
                config, dtype=dtype, trust_remote_code=trust_remote_code, **chosen
            )
    except Exception as error:  # the library's own code, which raises anything for a value that it did not foresee
        reason = " ".join(str(error).split())
        raise InputError(Diagnostic("AM408", f"`{config.model_type}` cannot be built as asked: {reason}")) from error
    _keep_full_precision(model, dtype)
    return model


def _keep_full_precision(model: PreTrainedModel, dtype: torch.dtype) -> None:
    """Put weights into float32 that the model declares too delicate for half precision, as ``from_pretrained`` does."""
    patterns: set[str] = set()
    if dtype in (torch.float16, torch.bfloat16):
        patterns |= set(model._keep_in_fp32_modules_strict or ())
    if dtype is torch.float16:
        patterns |= set(model._keep_in_fp32_modules or ())
    if not patterns:
        return
    delicate = re.compile("|".join(re.escape(pattern).replace(r"\*", ".*") for pattern in patterns))
    for name, weight in model.state_dict(keep_vars=True).items():
        if weight.is_floating_point() and delicate.search(name):
            weight.data = weight.data.float()


def _read_generation_settings(model: PreTrainedModel, directory: Path | None) -> None:
    """Take the generation settings of the directory: a checkpoint carries them on."""
    if directory is not None and model.can_generate() and (directory / GENERATION_CONFIG_NAME).is_file():
        try:
            model.generation_config = GenerationConfig.from_pretrained(directory)
        except Exception as error:  # the library's own code, which raises anything for a file that it did not foresee
            reason = " ".join(str(error).split())
            message = f"`{directory / GENERATION_CONFIG_NAME}` cannot be read: {reason}"
            raise InputError(Diagnostic("AM402", message, helps=("mend the file, or remove it",))) from error
