"""Which of the three things a command line asks for: help, one of the core's tools, or a run of a route."""

from __future__ import annotations

import importlib
import sys

from automodel_core import __version__
from automodel_core.cli.command_line import PROGRAM, CommandLine
from automodel_core.cli.console import print_plugin_problems
from automodel_core.cli.help_texts import command_help, route_help, top_help
from automodel_core.cli.routing import commands, find_route
from automodel_core.cli.tools import TOOLS
from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.errors import EXIT_DONE, EXIT_WRONG_INPUT, InputError
from automodel_core.plugins import Catalog
from automodel_core.plugins.grants import trusting

_HELP_WORDS = ("-h", "--help")


def dispatch(line: CommandLine) -> int:
    """Do what ``line`` asks for and return the exit code."""
    first = line.words[0] if line.words else None
    if first == "--version":
        print(f"{PROGRAM} {__version__}")
        return EXIT_DONE
    catalog = Catalog.discover()
    if first is not None and first in TOOLS:
        code: int = importlib.import_module(TOOLS[first].module).main(line, catalog)
        return code
    if first is None or first in (*_HELP_WORDS, "help"):
        print(top_help(catalog), file=sys.stdout if first else sys.stderr)
        print_plugin_problems(catalog)
        return EXIT_DONE if first else EXIT_WRONG_INPUT
    if first in commands(catalog) and len(line.words) == 2 and line.words[1] in _HELP_WORDS:
        print(command_help(catalog, first))
        print_plugin_problems(catalog)
        return EXIT_DONE
    return _run_route(catalog, line)


def _run_route(catalog: Catalog, line: CommandLine) -> int:
    from automodel_core.cli.arguments import split_run_arguments
    from automodel_core.plugins.loading import load_main

    # Before the route is looked up: the plugin that should have brought it may be the broken one.
    catalog.routes  # noqa: B018 (asks every plugin)
    reported = print_plugin_problems(catalog)
    owned = find_route(catalog, line)
    arguments = split_run_arguments(line, 2, options=owned.spec.options)
    if arguments.wants_help:
        print(route_help(owned))
        return EXIT_DONE
    if arguments.config is None:
        usage = f"{PROGRAM} {line.words[0]} {line.words[1]} -c CFG"
        raise InputError(Diagnostic("AM708", "there is no config", line.end(), helps=(f"write `{usage}`",)))
    with trusting(arguments.trusted):
        catalog.vocabulary()  # What else the config will need of the plugins, so that a broken one is named first.
        print_plugin_problems(catalog, but=reported)
        main = load_main(owned)
        code = main(arguments.config, overrides=arguments.overrides, plugins=(), plugin_files=arguments.plugin_files)
    return EXIT_DONE if code is None else int(code)
