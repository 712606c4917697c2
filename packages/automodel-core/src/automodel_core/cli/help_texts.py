"""What ``--help`` prints at every level, from what the installed plugins declare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from automodel_core.cli.command_line import PROGRAM
from automodel_core.cli.routing import commands
from automodel_core.cli.tools import TOOLS
from automodel_core.plugins import Catalog, Owned
from automodel_core.specs import Route

_RUN_OPTIONS = (
    ("-c, --config FILE", "the config, YAML or TOML"),
    ("--plugin FILE", "a Python file with hooks that override everything else; may be repeated"),
    ("--trust NAME", "let targets be below this module or in this Python file; may be repeated"),
    ("--a.b VALUE, a.b=VALUE", "override one key of the config"),
    ("~a.b", "remove one key of the config"),
    ("-h, --help", "show this text"),
)


def top_help(catalog: Catalog) -> str:
    """Return the help of ``automodel`` itself."""
    return _joined(
        f"usage: {PROGRAM} <command> <domain> -c CFG [overrides...]",
        "train and fine-tune models from one config file",
        _route_block(catalog, list(commands(catalog))),
        _block("tools:", [(tool.usage, tool.summary) for tool in TOOLS.values()]),
        _block("options:", [("-h, --help", "show this text, or that of a command"), ("--version", "show the version")]),
    )


def command_help(catalog: Catalog, command: str) -> str:
    """Return the help of one command."""
    return _joined(
        f"usage: {PROGRAM} {command} <domain> -c CFG [overrides...]",
        _route_block(catalog, [command]),
        _block("options:", _RUN_OPTIONS),
    )


def route_help(owned: Owned[Route]) -> str:
    """Return the help of one route."""
    route = owned.spec
    facts = [("recipe", route.recipe), ("from", owned.owner)]
    if route.aliases:
        facts.append(("also", ", ".join(f"{route.command} {alias}" for alias in route.aliases)))
    return _joined(
        f"usage: {PROGRAM} {route.command} {route.domain} -c CFG [overrides...]",
        route.summary,
        _block("route:", facts),
        _block("options:", (*_route_options(route), *_RUN_OPTIONS)),
    )


def _route_options(route: Route) -> list[tuple[str, str]]:
    return [
        (option.flag if option.constant is not None else f"{option.flag} TEXT", f"{option.summary} (`{option.key}`)")
        for option in route.options
    ]


def _route_block(catalog: Catalog, wanted: Sequence[str]) -> str:
    rows = [
        (f"{route.command} {route.domain}", route.summary)
        for route in dict.fromkeys(owned.spec for owned in catalog.routes.values())
        if route.command in wanted
    ]
    if not rows:
        return "commands: none is installed (the domains are packages, for example `pip install automodel-llm`)"
    return _block("commands:", sorted(rows))


def _block(title: str, rows: Iterable[tuple[str, str]]) -> str:
    rows = list(rows)
    width = max(len(left) for left, _ in rows)
    return "\n".join([title, *(f"  {left:<{width}}  {right}".rstrip() for left, right in rows)])


def _joined(*blocks: str) -> str:
    return "\n\n".join(blocks)
