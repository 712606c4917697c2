"""A model before it exists: the module on the meta device, and how its names relate to its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import attrs

from automodel_core.infrastructure.weights.places import WeightsPlace, open_places

if TYPE_CHECKING:
    import torch
    from torch import nn

    from automodel_core.infrastructure.weights import Initialiser, WeightSource


@attrs.frozen
class BoundNames:
    """The result of matching a checkpoint's keys with a module's names.

    ``sources`` has one source for each name that the checkpoint feeds; ``unused`` are checkpoint keys that feed
    nothing and that the model does not list as ignorable; ``unbound`` are the module's names without a source;
    ``optional`` are those of the unbound that the model says a checkpoint may lack.
    """

    sources: Mapping[str, WeightSource]
    unused: tuple[str, ...]
    unbound: tuple[str, ...]
    optional: frozenset[str] = frozenset()


class ModelAdapter(Protocol):
    """What the stages need to know of a family of models. One adapter serves every model of a library.

    An adapter that names this class as its base takes over what most families share: weights in one place, adapters
    named as the model's own layers are, nothing trained beside the adapters.
    """

    def places(self, model: nn.Module) -> Sequence[WeightsPlace]:
        """Return where a checkpoint holds the keys that :meth:`unbind` gives."""
        return (WeightsPlace(),)

    def open(self, model: nn.Module, directory: Path) -> Mapping[str, WeightSource]:
        """Return a source for every key below ``directory``, a checkpoint or a pretrained model."""
        return open_places(directory, self.places(model))

    def peft_scope(self, model: nn.Module) -> str:
        """Return what the names of the layers begin with that peft's files leave out.

        A wrapper around another library's model gives its own part of the names here: peft then reads the adapters
        onto that library's model.
        """
        return ""

    def peft_task(self, model: nn.Module) -> str | None:
        """Return what peft calls the model's task (``CAUSAL_LM``, ``SEQ_CLS`` …), or ``None``."""
        return None

    def trained_beside_adapters(self, model: nn.Module) -> Sequence[str]:
        """Return the modules that a run with adapters trains and saves whole: a head that no pretrained model has."""
        return ()

    def parts(self, model: nn.Module) -> Mapping[str, nn.Module]:
        """Return the parts that ``freeze`` can name, of those that the model has.

        They are ``embeddings``, ``language_model``, ``vision_tower`` and ``audio_tower``.
        """
        return {}

    def bind(self, model: nn.Module, checkpoint: Mapping[str, WeightSource]) -> BoundNames:
        """Match checkpoint keys with the names of ``model.state_dict(keep_vars=True)``, without reading data."""

    def unbind(self, model: nn.Module, sources: Mapping[str, WeightSource]) -> dict[str, WeightSource]:
        """Return the checkpoint's keys as sources over the model's names: the reverse of :meth:`bind`."""

    def tied_names(self, model: nn.Module) -> Mapping[str, str]:
        """Return ``{name: name that owns the storage}`` of tied parameters."""

    def tie(self, model: nn.Module) -> None:
        """Make tied parameters one object again."""

    def initialisers(self, model: nn.Module) -> Mapping[str, Initialiser]:
        """Return how the model itself initialises each parameter, recorded on the meta device."""

    def rebuild_buffers(self, model: nn.Module, device: torch.device) -> None:
        """Recompute, on ``device``, the buffers that no checkpoint holds."""

    def output_head(self, model: nn.Module) -> str | None:
        """Return the name of the layer that makes the model's outputs, which adapters leave alone unless told."""

    def bypassed_layers(self, model: nn.Module) -> Mapping[str, str]:
        """Return linear layers whose weight may be used without calling the layer, with the reason."""

    def blocks(self, model: nn.Module) -> Sequence[tuple[str, nn.Module]]:
        """Return the repeated blocks in order, with their names: the units of compilation and sharding."""

    def save_config(self, model: nn.Module, directory: Path) -> None:
        """Write the model's own configuration files (``config.json``, generation settings)."""

    def flops_per_token(self, model: nn.Module, sequence_length: int) -> float | None:
        """Return the training FLOPs of one token (forward and backward), or ``None`` when not known."""


@attrs.frozen
class Blueprint:
    """``module`` on the meta device, its ``adapter``, and the directory its weights are read from.

    ``weights_directory`` of ``None`` means that the weights are initialised from the run's seed. ``name_or_path`` is
    how the user names the model: what adapters remember as their base.
    """

    module: nn.Module
    adapter: ModelAdapter
    weights_directory: Path | None
    name_or_path: str | None = None
