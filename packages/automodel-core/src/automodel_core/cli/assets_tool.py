"""``automodel assets list | fetch | path``: small real models and data for quick starts."""

from __future__ import annotations

import argparse
import json
import sys

from automodel_core.cli.command_line import PROGRAM, CommandLine
from automodel_core.cli.console import print_plugin_problems
from automodel_core.cli.parser import Parser
from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import EXIT_DONE, InputError
from automodel_core.plugins import Catalog
from automodel_core.specs import AssetSpec


def main(line: CommandLine, catalog: Catalog) -> int:
    """Run the tool."""
    arguments = _parser().parse_args(line.words[1:])
    catalog.assets  # noqa: B018 (asks every plugin, so that a broken one is named first)
    print_plugin_problems(catalog)
    if arguments.action == "list":
        return _list(catalog, as_json=arguments.json)
    from automodel_core.assets.store import fetch_asset, fetched_directory

    for asset in [_find(catalog, name) for name in arguments.names]:
        if arguments.action == "fetch":
            print(fetch_asset(asset, say=lambda text: print(text, file=sys.stderr, flush=True)))
            continue
        directory = fetched_directory(asset)
        if directory is None:
            helps = (f"`{PROGRAM} assets fetch {asset.name}`",)
            raise InputError(Diagnostic("AM362", f"the asset `{asset.name}` is not fetched", helps=helps))
        print(directory)
    return EXIT_DONE


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog=f"{PROGRAM} assets", description="small real models and data for quick starts")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list the assets of the installed plugins")
    listing.add_argument("--json", action="store_true", help="print a JSON list")
    for action, summary in (("fetch", "download, check and convert, unless it is there"), ("path", "print where")):
        command = actions.add_parser(action, help=summary)
        command.add_argument("names", nargs="+", metavar="NAME")
    return parser


def _find(catalog: Catalog, name: str) -> AssetSpec:
    if name in catalog.assets:
        return catalog.assets[name].spec
    helps = did_you_mean(name, catalog.assets) or (f"assets: {', '.join(catalog.assets) or 'none'}",)
    raise InputError(Diagnostic("AM363", f"there is no asset `{name}`", helps=helps))


def _list(catalog: Catalog, *, as_json: bool) -> int:
    from automodel_core.assets.store import fetched_directory

    rows = []
    for name, owned in catalog.assets.items():
        directory = fetched_directory(owned.spec)
        place = None if directory is None else str(directory)
        rows.append({"name": name, "summary": owned.spec.summary, "licence": owned.spec.licence, "directory": place})
    if as_json:
        print(json.dumps(rows, indent=2))
        return EXIT_DONE
    for row in rows:
        print(f"{row['name']}  {row['summary']}\n    {row['licence']}\n    {row['directory'] or 'not fetched'}")
    return EXIT_DONE
