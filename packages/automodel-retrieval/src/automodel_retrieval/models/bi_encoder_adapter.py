"""How the names of a bi-encoder relate to files that transformers and sentence-transformers read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs
import torch
from torch import nn
from transformers import PreTrainedModel

from automodel_core.adapters.initialisation import initialisation_steps
from automodel_core.adapters.transformers import TransformersAdapter
from automodel_core.infrastructure.blueprint import BoundNames, ModelAdapter
from automodel_core.infrastructure.weights import Initialiser, WeightSource, WeightsPlace, holds_places, open_places
from automodel_core.infrastructure.weights.recording import InitialisationStep, record_initialisers
from automodel_retrieval.models.bi_encoder import SEPARATE, SHARED, BiEncoder

TEMPERATURE: Final = "temperature"
TEMPERATURE_PLACE: Final = WeightsPlace(stem=TEMPERATURE, prefix=f"{TEMPERATURE}.")
ROUTES: Final = {"query_encoder": "query_0_Transformer", "document_encoder": "document_0_Transformer"}
"""Where the Router of sentence-transformers keeps each encoder."""


@attrs.frozen
class BiEncoderAdapter(ModelAdapter):
    """Each encoder is a transformers model under its own keys; a learned temperature has a file of its own.

    A shared encoder lies in the directory itself, separate ones where sentence-transformers' Router keeps them. When
    separate encoders start from a plain model, each reads all of it; ``document_directory`` is the documents' one when
    it is another.
    """

    document_directory: Path | None = None
    library: ModelAdapter = attrs.field(factory=TransformersAdapter)

    def places(self, model: nn.Module) -> Sequence[WeightsPlace]:
        """Return one place for each encoder, and the temperature's where it is learned."""
        bi = _checked(model)
        return (*_tower_places(bi), *((TEMPERATURE_PLACE,) if bi.temperature.learned else ()))

    def open(self, model: nn.Module, directory: Path) -> Mapping[str, WeightSource]:
        """Open a checkpoint, or a plain model for every encoder, with a temperature where there is one."""
        bi = _checked(model)
        places = _tower_places(bi)
        if bi.shared or holds_places(directory, places):
            opened = open_places(directory, places)
        else:
            starts = (directory, self.document_directory or directory)
            opened = {}
            for name, start in zip(SEPARATE, starts, strict=True):
                opened |= {f"{name}.{key}": source for key, source in open_places(start, (WeightsPlace(),)).items()}
        if bi.temperature.learned and holds_places(directory, (TEMPERATURE_PLACE,)):
            opened |= open_places(directory, (TEMPERATURE_PLACE,))
        return opened

    def bind(self, model: nn.Module, checkpoint: Mapping[str, WeightSource]) -> BoundNames:
        """Match each encoder by transformers' own conversions; a temperature may be absent and starts anew."""
        bi = _checked(model)
        own = {key: source for key, source in checkpoint.items() if key.startswith(TEMPERATURE_PLACE.prefix)}
        bound = BoundNames(sources={}, unused=(), unbound=())
        for name, tower in bi.towers().items():
            before = _key_prefix(name)
            part = {k.removeprefix(before): s for k, s in checkpoint.items() if k.startswith(before) and k not in own}
            bound = _joined(bound, self.library.bind(tower, part), f"{name}.", before)
        wanted = {name for name, _ in bi.named_parameters() if name.startswith(TEMPERATURE_PLACE.prefix)}
        return attrs.evolve(
            bound,
            sources={**bound.sources, **{name: own[name] for name in wanted & set(own)}},
            unbound=(*bound.unbound, *sorted(wanted - set(own))),
            optional=bound.optional | wanted,
        )

    def unbind(self, model: nn.Module, sources: Mapping[str, WeightSource]) -> dict[str, WeightSource]:
        """Return what ``save_pretrained`` of each encoder writes, and the temperature."""
        keys = {name: source for name, source in sources.items() if name.startswith(TEMPERATURE_PLACE.prefix)}
        for name, tower in _checked(model).towers().items():
            part = {n.removeprefix(f"{name}."): s for n, s in sources.items() if n.startswith(f"{name}.")}
            keys |= {f"{_key_prefix(name)}{key}": s for key, s in self.library.unbind(tower, part).items()}
        return keys

    def peft_scope(self, model: nn.Module) -> str:
        """Return the shared encoder's name: peft reads its adapters onto the plain encoder."""
        return f"{SHARED}." if _checked(model).shared else ""

    def peft_task(self, model: nn.Module) -> str | None:
        """Return ``FEATURE_EXTRACTION``."""
        return "FEATURE_EXTRACTION"

    def trained_beside_adapters(self, model: nn.Module) -> Sequence[str]:
        """Return the temperature, where it is learned."""
        return (TEMPERATURE,) if _checked(model).temperature.learned else ()

    def tied_names(self, model: nn.Module) -> Mapping[str, str]:
        """Return the ties of every encoder."""
        return {
            f"{name}.{tied}": f"{name}.{owner}"
            for name, tower in _checked(model).towers().items()
            for tied, owner in self.library.tied_names(tower).items()
        }

    def tie(self, model: nn.Module) -> None:
        """Tie the weights of every encoder again."""
        for tower in _checked(model).towers().values():
            self.library.tie(tower)

    def initialisers(self, model: nn.Module) -> Mapping[str, Initialiser]:
        """Record how transformers starts each encoder, and where the temperature starts."""
        return record_initialisers(model, list(_steps(_checked(model))), self.tied_names(model))

    def rebuild_buffers(self, model: nn.Module, device: torch.device) -> None:
        """Compute the buffers that no file holds."""
        for tower in _checked(model).towers().values():
            self.library.rebuild_buffers(tower, device)

    def output_head(self, model: nn.Module) -> str | None:
        """Return ``None``: an embedding is read off the encoder itself."""
        return None

    def bypassed_layers(self, model: nn.Module) -> Mapping[str, str]:
        """Return what the library names, and a pooler: the embedding is taken before it."""
        found: dict[str, str] = {}
        for name, tower in _checked(model).towers().items():
            found |= {f"{name}.{layer}": why for layer, why in self.library.bypassed_layers(tower).items()}
            found |= {
                f"{name}.{layer}": "the embedding is pooled from the hidden states, which do not pass through it"
                for layer, _ in tower.named_modules()
                if layer.startswith("pooler.")
            }
        return found

    def blocks(self, model: nn.Module) -> Sequence[tuple[str, nn.Module]]:
        """Return the layers of every encoder."""
        return [
            (f"{name}.{block}", module)
            for name, tower in _checked(model).towers().items()
            for block, module in self.library.blocks(tower)
        ]

    def save_config(self, model: nn.Module, directory: Path) -> None:
        """Write ``config.json`` of every encoder beside its weights."""
        bi = _checked(model)
        for place, tower in zip(_tower_places(bi), bi.towers().values(), strict=True):
            self.library.save_config(tower, directory / place.directory)

    def flops_per_token(self, model: nn.Module, sequence_length: int) -> float | None:
        """Return that of the query's encoder: separate ones are of one size as a rule."""
        return self.library.flops_per_token(next(iter(_checked(model).towers().values())), sequence_length)


def _tower_places(bi: BiEncoder) -> tuple[WeightsPlace, ...]:
    if bi.shared:
        return (WeightsPlace(),)
    return tuple(WeightsPlace(directory=ROUTES[name], prefix=f"{name}.") for name in SEPARATE)


def _key_prefix(tower: str) -> str:
    return "" if tower == SHARED else f"{tower}."


def _joined(bound: BoundNames, part: BoundNames, name_prefix: str, key_prefix: str) -> BoundNames:
    return BoundNames(
        sources={**bound.sources, **{f"{name_prefix}{name}": source for name, source in part.sources.items()}},
        unused=(*bound.unused, *(f"{key_prefix}{key}" for key in part.unused)),
        unbound=(*bound.unbound, *(f"{name_prefix}{name}" for name in part.unbound)),
        optional=bound.optional | {f"{name_prefix}{name}" for name in part.optional},
    )


def _steps(bi: BiEncoder) -> Iterator[InitialisationStep]:
    for name, tower in bi.towers().items():
        for step in initialisation_steps(tower):
            yield attrs.evolve(step, name=f"{name}.{step.name}" if step.name else name)
    if bi.temperature.learned:
        yield InitialisationStep(TEMPERATURE, bi.temperature, lambda stand_in: stand_in.reset_parameters())  # type: ignore[operator]


def _checked(model: nn.Module) -> BiEncoder:
    if not isinstance(model, BiEncoder) or not all(isinstance(t, PreTrainedModel) for t in model.towers().values()):
        raise TypeError(f"`{type(model).__name__}` is not a bi-encoder of transformers models")
    return model
