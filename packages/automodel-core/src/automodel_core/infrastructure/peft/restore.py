"""Where adapter weights come from: their own initialisers, or a directory in peft's format."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError
from automodel_core.infrastructure.peft.export import ADAPTER_WEIGHTS, adapted_layers, peft_key, whole_key
from automodel_core.infrastructure.peft.layers import PeftLayers
from automodel_core.infrastructure.weights import WeightSource, open_file


def bind_adapters(model: nn.Module, layers: PeftLayers, seed: int, directory: Path | None) -> dict[str, WeightSource]:
    """Return a source for every adapter parameter: from ``directory``, or drawn from ``seed`` when it is ``None``.

    What is saved beside the adapters comes from ``directory`` too; without one it is the base model's business.
    Raises :class:`InputError` when the directory holds no adapters, or not exactly the adapters of ``model``.
    """
    if directory is None:
        return {
            f"{name}.{part}": initialiser.source(
                seed, f"{name}.{part}", getattr(layer, part).shape, getattr(layer, part).dtype
            )
            for name, layer in adapted_layers(model).items()
            for part, initialiser in layer.initialisers().items()
        }
    return _from_directory(model, layers, directory)


def _from_directory(model: nn.Module, layers: PeftLayers, directory: Path) -> dict[str, WeightSource]:
    path = directory / ADAPTER_WEIGHTS
    if not path.is_file():
        raise InputError(
            Diagnostic(
                "AM424",
                f"`{directory}` has no `{ADAPTER_WEIGHTS}`, but `peft` is on",
                helps=("name a checkpoint of a run with `peft`, or remove the `peft` section",),
            )
        )
    saved = open_file(path)
    wanted = {
        f"{name}.{part}": (peft_key(name, part, layers.scope), getattr(layer, part).shape)
        for name, layer in adapted_layers(model).items()
        for part in ("lora_A", "lora_B")
    }
    wanted |= {name: (whole_key(name, layers.scope), model.get_parameter(name).shape) for name in layers.whole}
    absent = [key for key, _ in wanted.values() if key not in saved]
    surplus = sorted(set(saved) - {key for key, _ in wanted.values()})
    if absent or surplus:
        raise InputError(_other_layers(path, absent, surplus))
    reshaped = [(key, saved[key].shape, shape) for key, shape in wanted.values() if saved[key].shape != shape]
    if reshaped:
        key, found, expected = reshaped[0]
        raise InputError(
            Diagnostic(
                "AM424",
                f"the adapters in `{path}` have other shapes, first `{key}`: {tuple(found)}, not {tuple(expected)}",
                helps=("give `peft.rank` the value it had when the checkpoint was written",),
            )
        )
    return {name: saved[key] for name, (key, _) in wanted.items()}


def _other_layers(path: Path, absent: list[str], surplus: list[str]) -> Diagnostic:
    parts = []
    if absent:
        parts.append(f"lacks {len(absent)} adapter weights of this run, first `{absent[0]}`")
    if surplus:
        parts.append(f"holds {len(surplus)} that this run has no layer for, first `{surplus[0]}`")
    return Diagnostic(
        "AM424",
        f"`{path}` {' and '.join(parts)}",
        helps=("give `peft.target_modules` the value it had when the checkpoint was written",),
    )
