"""``automodel data preview``: what a run would train on, without building a model."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

from automodel_core.cli.arguments import RunArguments, split_run_arguments
from automodel_core.cli.command_line import PROGRAM, CommandLine
from automodel_core.cli.console import print_plugin_problems
from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.diagnostics.render import use_colour
from automodel_core.diagnostics.suggest import did_you_mean
from automodel_core.errors import EXIT_DONE, InputError
from automodel_core.plugins import Catalog
from automodel_core.plugins.grants import trusting

if TYPE_CHECKING:
    from automodel_core.data.preview import DataPreview

_ACTIONS: Final = ("preview",)
_SPLITS: Final = ("train", "validation")
_ROWS: Final = 3
_USAGE: Final = f"""usage: {PROGRAM} data preview -c CFG [--rows N] [--split train|validation] [--json] [overrides...]

show what a run would train on: samples with what is learned marked, their lengths, the share of padding and of learned
tokens, and the rows that are left out and why; no model is built

options:
  -c, --config FILE  the config; may be given without the option
  --rows N           how many samples to show (default: {_ROWS})
  --split NAME       train or validation (default: train)
  --plugin FILE      a Python file with hooks that override everything else; may be repeated
  --trust NAME       let targets be below this module or in this Python file; may be repeated
  --json             print everything as JSON
  -h, --help         show this text"""


def main(line: CommandLine, catalog: Catalog) -> int:
    """Run the tool."""
    action = line.words[1] if len(line.words) > 1 else None
    if action in ("-h", "--help"):
        print(_USAGE)
        return EXIT_DONE
    if action not in _ACTIONS:
        raise InputError(_unknown_action(line, action))
    arguments = split_run_arguments(
        line, 2, positional_config=True, flags=frozenset({"--json"}), values=frozenset({"--rows", "--split"})
    )
    if arguments.wants_help:
        print(_USAGE)
        return EXIT_DONE
    if arguments.config is None:
        helps = (f"write `{PROGRAM} data preview -c CFG`",)
        raise InputError(Diagnostic("AM708", "there is no config", line.end(), helps=helps))
    with trusting(arguments.trusted):
        preview = _preview(arguments, catalog, rows=_rows(arguments), split=_split(arguments))
    if "--json" in arguments.flags:
        print(json.dumps(preview.to_data(), indent=2, ensure_ascii=False))
    else:
        from automodel_core.cli.preview_text import render_preview

        print(render_preview(preview, colour=use_colour(sys.stdout)))
    return EXIT_DONE


def _preview(arguments: RunArguments, catalog: Catalog, *, rows: int, split: str) -> DataPreview:
    from automodel_core.programmatic import prepare_recipe

    assert arguments.config is not None
    catalog.vocabulary()
    print_plugin_problems(catalog)
    recipe = prepare_recipe(
        arguments.config, overrides=arguments.overrides, plugin_files=arguments.plugin_files, catalog=catalog
    )
    preview: DataPreview = recipe.preview_data(split, rows)
    return preview


def _rows(arguments: RunArguments) -> int:
    text = arguments.values.get("--rows", str(_ROWS))
    if not (text.isascii() and text.isdigit()):
        raise InputError(Diagnostic("AM709", f"`--rows` takes a number of samples, not `{text}`"))
    return int(text)


def _split(arguments: RunArguments) -> str:
    split = arguments.values.get("--split", "train")
    if split not in _SPLITS:
        helps = (*did_you_mean(split, _SPLITS), "a run has the splits `train` and `validation`")
        raise InputError(Diagnostic("AM709", f"`--split` is `{split}`", helps=helps))
    return split


def _unknown_action(line: CommandLine, action: str | None) -> Diagnostic:
    actions = "the action is `preview`"
    if action is None:
        return Diagnostic("AM702", f"`{PROGRAM} data` needs an action", line.end(), helps=(actions,))
    helps = (*did_you_mean(action, _ACTIONS), actions)
    return Diagnostic("AM702", f"`{PROGRAM} data` has no action `{action}`", line.span(1), helps=helps)
