"""``automodel checkpoint merge``: what is done to checkpoints apart from runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from automodel_core.cli.command_line import PROGRAM, CommandLine
from automodel_core.cli.console import print_plugin_problems
from automodel_core.cli.parser import Parser
from automodel_core.errors import EXIT_DONE
from automodel_core.plugins import Catalog


def main(line: CommandLine, catalog: Catalog) -> int:
    """Run the tool."""
    arguments = _parser().parse_args(line.words[1:])
    catalog.vocabulary()
    print_plugin_problems(catalog)
    from automodel_core.training.merging import merge_checkpoint

    overrides = () if arguments.base is None else (f"--model.name_or_path={arguments.base}",)
    print(merge_checkpoint(Path(arguments.checkpoint), Path(arguments.out), catalog=catalog, overrides=overrides))
    return EXIT_DONE


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog=f"{PROGRAM} checkpoint", description="work on a checkpoint")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    merge = actions.add_parser("merge", help="fold the adapters of a LoRA run into a plain model directory")
    merge.add_argument("checkpoint", metavar="DIR", help="a `step-N` directory, or the one that holds them")
    merge.add_argument("out", metavar="OUT", help="a directory that is not there yet")
    merge.add_argument("--base", metavar="DIR", help="the base model, where it has moved since the run")
    return parser
