"""From an adapter checkpoint to a plain model directory."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from automodel_core.checkpoint.directory import Checkpoint, open_checkpoint
from automodel_core.checkpoint.durable import publish_directory
from automodel_core.checkpoint.run_files import StateError, read_config
from automodel_core.config import RunConfig, load_run_config
from automodel_core.config.references import escape_references
from automodel_core.diagnostics import Diagnostic
from automodel_core.diagnostics.writing import writing_to
from automodel_core.errors import InputError
from automodel_core.infrastructure.peft.export import adapted_layers
from automodel_core.plugins import Catalog, run_host
from automodel_core.plugins.loading import find_recipe, load_recipe_class
from automodel_core.training.recipe import BaseRecipe
from automodel_core.training.saving import write_weights
from automodel_core.training.sizes import parse_size


def merge_checkpoint(path: Path, out: Path, *, catalog: Catalog, overrides: Sequence[str] = ()) -> Path:
    """Write the model of an adapter checkpoint with its adapters folded in, as its own library writes a plain model.

    ``overrides`` change the saved config: a base model that has moved is named with ``--model.name_or_path``. Raises
    :class:`InputError` when ``path`` is no adapter checkpoint or ``out`` is there already.
    """
    if out.exists():
        raise InputError(
            Diagnostic("AM510", f"`{out}` is there already", helps=("give a directory that is not there",))
        )
    checkpoint = open_checkpoint(path)
    config = _saved_config(checkpoint, catalog, overrides)
    if not config.given("peft"):
        message = f"`{checkpoint.path}` has no adapters: it is a whole model already"
        raise InputError(Diagnostic("AM511", message))
    recipe: BaseRecipe = load_recipe_class(find_recipe(config.recipe or "", catalog))(config)
    recipe.host = run_host(recipe, catalog=catalog)
    processor = recipe.host.build("build_processor", config=config)
    state = recipe.build_model_state(processor, checkpoint)
    for layer in adapted_layers(state.model).values():
        layer.merge()
    partial = out.with_name(f".{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    with writing_to(partial, "OUT", None):
        write_weights(state, partial, max_shard_bytes=parse_size(config.checkpoint.max_shard_size))
        recipe.host.build("export_model", run=state, directory=str(partial))
        publish_directory(partial, out)
    return out


def _saved_config(checkpoint: Checkpoint, catalog: Catalog, overrides: Sequence[str]) -> RunConfig:
    try:
        saved = read_config(checkpoint.state)
    except StateError as error:
        raise InputError(Diagnostic("AM507", f"the state of `{checkpoint.path}` is unusable: {error}")) from None
    data = {key: escape_references(value) for key, value in saved.items() if value is not None and key != "compile"}
    return load_run_config(data, overrides=overrides, vocabulary=catalog.vocabulary(), required=("model",))
