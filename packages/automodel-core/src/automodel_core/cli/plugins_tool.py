"""``automodel plugins list``: the installed plugins and what became of each."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from automodel_core.cli.command_line import PROGRAM, CommandLine
from automodel_core.cli.console import print_plugin_problems
from automodel_core.cli.parser import Parser
from automodel_core.errors import EXIT_DONE
from automodel_core.plugins import Catalog, InstalledPlugin


def main(line: CommandLine, catalog: Catalog) -> int:
    """Run the tool."""
    arguments = _parser().parse_args(line.words[1:])
    if arguments.hook is not None:
        return _list_call_order(arguments.hook, catalog, as_json=arguments.json)
    catalog.ask_everything()
    plugins = catalog.plugins
    if arguments.json:
        print(json.dumps([_as_data(plugin) for plugin in plugins], indent=2))
    else:
        print("\n".join(_table(plugins)) or "no plugin is installed")
    print_plugin_problems(catalog)
    return EXIT_DONE


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog=f"{PROGRAM} plugins", description="what is installed under the entry points of automodel")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list the installed plugins", description="list the installed plugins")
    listing.add_argument("--json", action="store_true", help="print a JSON list")
    listing.add_argument("--hook", metavar="NAME", help="show who answers a hook of a run, in the order of calls")
    return parser


def _list_call_order(hook: str, catalog: Catalog, *, as_json: bool) -> int:
    """Print the order of calls among what is installed; a run puts its recipe and the user's plugins before it."""
    from automodel_core.plugins import run_host

    order = run_host(None, catalog=catalog).call_order(hook)
    print_plugin_problems(catalog)
    if as_json:
        data = [{"plugin": entry.plugin, "layer": entry.layer.label, "wrapper": entry.wrapper} for entry in order]
        print(json.dumps(data, indent=2))
        return EXIT_DONE
    for entry in order:
        print(f"{entry.plugin}  ({entry.layer.label}{', wrapper' if entry.wrapper else ''})")
    if not order:
        print(f"nothing that is installed implements {hook}")
    return EXIT_DONE


def _as_data(plugin: InstalledPlugin) -> dict[str, object]:
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "target": plugin.target,
        "status": plugin.status,
        "hooks": list(plugin.hooks),
        "error": plugin.error or None,
        "import_seconds": round(plugin.seconds, 4),
    }


def _table(plugins: Sequence[InstalledPlugin]) -> list[str]:
    rows = [("plugin", "distribution", "version", "status", "hooks")]
    rows += [(p.name, p.distribution, p.version, p.status, ", ".join(p.hooks) or "-") for p in plugins]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    shown = []
    for row in rows if plugins else ():
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        shown.append("  ".join([*cells, row[4]]).rstrip())
    return shown
