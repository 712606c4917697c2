"""``automodel config validate`` and ``config show``: a config checked or printed without a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from automodel_core.cli.arguments import RunArguments, split_run_arguments
from automodel_core.cli.command_line import PROGRAM, CommandLine
from automodel_core.cli.console import print_diagnostics, print_plugin_problems
from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.diagnostics.render import to_data
from automodel_core.diagnostics.suggest import did_you_mean
from automodel_core.errors import EXIT_DONE, InputError
from automodel_core.plugins import Catalog
from automodel_core.plugins.choosing import needed_sections

if TYPE_CHECKING:
    from automodel_core.config import RunConfig

_ACTIONS: Final = ("validate", "show")
_USAGE: Final = f"""usage: {PROGRAM} config validate CFG [--json] [overrides...]
       {PROGRAM} config show CFG [--json] [overrides...]

check a config, or print it as a run would see it: overrides applied, other spellings made canonical, defaults filled

options:
  -c, --config FILE  the config; may be given without the option
  --json             print diagnostics, or the config, as JSON
  -h, --help         show this text"""


def main(line: CommandLine, catalog: Catalog) -> int:
    """Run the tool. A config with errors raises :class:`InputError`, or prints it when JSON is asked for."""
    action = line.words[1] if len(line.words) > 1 else None
    if action in ("-h", "--help"):
        print(_USAGE)
        return EXIT_DONE
    if action not in _ACTIONS:
        raise InputError(_unknown_action(line, action))
    arguments = split_run_arguments(line, 2, positional_config=True, flags=frozenset({"--json"}))
    if arguments.wants_help:
        print(_USAGE)
        return EXIT_DONE
    if arguments.config is None:
        helps = (f"write `{PROGRAM} config {action} CFG`",)
        raise InputError(Diagnostic("AM708", "there is no config", line.end(), helps=helps))
    return (_validate if action == "validate" else _show)(arguments.config, arguments, catalog)


def _validate(config_path: str, arguments: RunArguments, catalog: Catalog) -> int:
    as_json = "--json" in arguments.flags
    try:
        config = _load(config_path, arguments, catalog)
    except InputError as error:
        if not as_json:
            raise
        print(_verdict(False, error.diagnostics))
        return error.exit_code
    if as_json:
        print(_verdict(True, config.warnings))
    else:
        print_diagnostics(config.warnings)
        print(f"{config_path}: valid")
    return EXIT_DONE


def _verdict(valid: bool, diagnostics: Sequence[Diagnostic]) -> str:
    return json.dumps({"valid": valid, "diagnostics": [to_data(d) for d in diagnostics]}, indent=2)


def _show(config_path: str, arguments: RunArguments, catalog: Catalog) -> int:
    from automodel_core.config.dump import dump_yaml

    config = _load(config_path, arguments, catalog)
    print_diagnostics(config.warnings)
    resolved = config.resolved()
    print(json.dumps(resolved, indent=2) if "--json" in arguments.flags else dump_yaml(resolved).rstrip("\n"))
    return EXIT_DONE


def _load(config_path: str, arguments: RunArguments, catalog: Catalog) -> RunConfig:
    from automodel_core.config.load import REQUIRED_SECTIONS, load_run_config

    vocabulary = catalog.vocabulary()
    print_plugin_problems(catalog)
    return load_run_config(
        config_path,
        overrides=arguments.overrides,
        vocabulary=vocabulary,
        required=lambda document: needed_sections(document, None, catalog, REQUIRED_SECTIONS),
    )


def _unknown_action(line: CommandLine, action: str | None) -> Diagnostic:
    actions = "the actions are `validate` and `show`"
    if action is None:
        return Diagnostic("AM702", f"`{PROGRAM} config` needs an action", line.end(), helps=(actions,))
    helps = (*did_you_mean(action, _ACTIONS), actions)
    return Diagnostic("AM702", f"`config` has no action `{action}`", line.span(1), helps=helps)
