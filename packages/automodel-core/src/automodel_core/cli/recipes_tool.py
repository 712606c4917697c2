"""``automodel recipes list | copy``: the starters of the installed plugins."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from automodel_core.cli.command_line import PROGRAM, CommandLine
from automodel_core.cli.console import print_plugin_problems
from automodel_core.cli.parser import Parser
from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import EXIT_DONE, InputError
from automodel_core.plugins import Catalog
from automodel_core.plugins.starters import Starter, installed_starters


def main(line: CommandLine, catalog: Catalog) -> int:
    """Run the tool."""
    arguments = _parser().parse_args(line.words[1:])
    starters = installed_starters(catalog)
    print_plugin_problems(catalog)
    if arguments.action == "list":
        _list(starters, as_json=arguments.json)
    else:
        _copy(starters, arguments.name, Path(arguments.file), force=arguments.force)
    return EXIT_DONE


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog=f"{PROGRAM} recipes", description="complete configs to start from")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list the starters of the installed plugins")
    listing.add_argument("--json", action="store_true", help="print a JSON list")
    copy = actions.add_parser("copy", help="copy a starter to a file of your own")
    copy.add_argument("name", metavar="NAME")
    copy.add_argument("file", metavar="FILE.yaml")
    copy.add_argument("--force", action="store_true", help="write over a file that is there")
    return parser


def _list(starters: dict[str, Starter], *, as_json: bool) -> None:
    if as_json:
        rows = [
            {"name": s.name, "plugin": s.plugin, "summary": s.summary, "command": s.command} for s in starters.values()
        ]
        print(json.dumps(rows, indent=2))
        return
    for starter in starters.values():
        print(f"{starter.name}  ({starter.plugin})\n    {starter.summary}\n    {starter.command}")


def _copy(starters: dict[str, Starter], name: str, file: Path, *, force: bool) -> None:
    """Write the starter to ``file``; its first line then names that file."""
    if name not in starters:
        helps = did_you_mean(name, starters) or (f"starters: {', '.join(starters) or 'none'}",)
        raise InputError(Diagnostic("AM623", f"there is no starter `{name}`", helps=helps))
    if file.exists() and not force:
        message = f"`{file}` is there already"
        raise InputError(Diagnostic("AM624", message, helps=("give another name, or `--force`",)))
    text = starters[name].text.replace(f"{name}.yaml", str(file))
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(Diagnostic("AM624", f"`{file}` cannot be written: {error.strerror}")) from None
    print(f"{text.partition(chr(10))[0].removeprefix('#').strip()}")
