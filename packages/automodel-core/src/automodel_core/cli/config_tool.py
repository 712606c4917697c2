"""``automodel config validate``, ``show`` and ``schema``: configs checked, printed or described without a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from automodel_core.cli.arguments import RunArguments, split_run_arguments
from automodel_core.cli.command_line import PROGRAM, CommandLine
from automodel_core.cli.console import print_diagnostics, print_plugin_problems
from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.diagnostics.render import to_data
from automodel_core.diagnostics.suggest import did_you_mean
from automodel_core.errors import EXIT_DONE, EXIT_WRONG_INPUT, InputError
from automodel_core.plugins import Catalog
from automodel_core.plugins.choosing import needed_sections
from automodel_core.plugins.grants import trusting

if TYPE_CHECKING:
    from automodel_core.config import RunConfig
    from automodel_core.config.rules import Rule

_ACTIONS: Final = ("validate", "show", "schema", "migrate")
_FORMATS: Final = ("yaml", "toml", "json")
_SUFFIXES: Final = (".yaml", ".yml", ".toml")
_USAGE: Final = f"""usage: {PROGRAM} config validate CFG... [--deep] [--world-size N] [--json] [overrides...]
       {PROGRAM} config show CFG [--provenance | --changes] [-o yaml|toml|json] [overrides...]
       {PROGRAM} config migrate CFG [-o NEW]
       {PROGRAM} config schema

check configs, or print one as a run would see it: overrides applied, other spellings made canonical, defaults filled;
or write a config of another system in our spelling; or print the JSON Schema of configs, for editors

options:
  -c, --config FILE  a config; may be given without the option; a directory stands for every config in it
  --deep             try all that a run does before it reads weights: import targets, read the first rows of the data,
                     match patterns with the model's names; nothing is written
  --plugin FILE      with --deep, a Python file with hooks that override everything else; may be repeated
  --world-size N     how many ranks the run will have; WORLD_SIZE of the environment without it
  --trust NAME       let targets be below this module or in this Python file; may be repeated
  --provenance       show where each value comes from
  --changes          show what each override changed
  -o, --output KIND  yaml, toml or json; of `migrate`, a new file
  --json             print diagnostics, or the config, as JSON
  -h, --help         show this text"""


def main(line: CommandLine, catalog: Catalog) -> int:
    """Run the tool. A config with errors raises :class:`InputError`, or prints it when there are several or JSON."""
    action = line.words[1] if len(line.words) > 1 else None
    if action in ("-h", "--help"):
        print(_USAGE)
        return EXIT_DONE
    if action not in _ACTIONS:
        raise InputError(_unknown_action(line, action))
    if action == "schema":
        return _schema(line, catalog)
    arguments = split_run_arguments(
        _with_long_output(line),
        2,
        positional_config=True,
        several_configs=action == "validate",
        flags=frozenset({"--json", "--provenance", "--changes", "--deep"}),
        values=frozenset({"--world-size", "--output"}),
    )
    if arguments.wants_help:
        print(_USAGE)
        return EXIT_DONE
    if arguments.config is None:
        helps = (f"write `{PROGRAM} config {action} CFG`",)
        raise InputError(Diagnostic("AM708", "there is no config", line.end(), helps=helps))
    known = print_plugin_problems(catalog)
    try:
        with trusting(arguments.trusted):
            return _act(action, arguments, catalog)
    finally:
        print_plugin_problems(catalog, but=known)  # what plugins declare was asked only when it was needed


def _act(action: str, arguments: RunArguments, catalog: Catalog) -> int:
    assert arguments.config is not None
    if action == "migrate":
        from automodel_core.cli.migrate_tool import migrate_config

        return migrate_config(arguments.config, arguments, catalog)
    if action == "show":
        return _show(arguments.config, arguments, catalog)
    return _validate(_configs([arguments.config, *arguments.more_configs]), arguments, catalog)


def _schema(line: CommandLine, catalog: Catalog) -> int:
    from automodel_core.config.json_schema import config_schema

    arguments = split_run_arguments(line, 2)
    if arguments.wants_help:
        print(_USAGE)
        return EXIT_DONE
    if arguments.config is not None or arguments.overrides:
        helps = ("it describes every config",)
        raise InputError(Diagnostic("AM706", f"`{PROGRAM} config schema` takes no config", line.span(2), helps=helps))
    print_plugin_problems(catalog)
    print(json.dumps(config_schema(catalog.vocabulary()), indent=2))
    return EXIT_DONE


def _with_long_output(line: CommandLine) -> CommandLine:
    """Return the line with ``-o`` spelled out."""
    return attrs.evolve(line, words=tuple("--output" if word == "-o" else word for word in line.words))


def _configs(named: Sequence[str]) -> list[str]:
    """Return the files, with every config in a directory, at any depth, in its place."""
    found: list[str] = []
    for name in named:
        path = Path(name)
        inside = sorted(str(p) for p in path.rglob("*") if p.suffix in _SUFFIXES) if os.path.isdir(name) else []
        found.extend(inside or [name])
    return found


def _validate(configs: Sequence[str], arguments: RunArguments, catalog: Catalog) -> int:
    """Check every config; one alone raises what is wrong with it."""
    as_json, deep = "--json" in arguments.flags, "--deep" in arguments.flags
    verdicts: list[dict[str, Any]] = []
    for config in configs:
        try:
            warnings = _checked(config, arguments, catalog, deep=deep)
        except InputError as error:
            if len(configs) == 1 and not as_json:
                raise
            verdicts.append(_verdict(config, False, deep, error.diagnostics))
            if not as_json:
                print_diagnostics(error.diagnostics)
        else:
            verdicts.append(_verdict(config, True, deep, warnings))
            if not as_json:
                print_diagnostics(warnings)
                print(f"{config}: valid", flush=True)
    if as_json:
        alone = {key: value for key, value in verdicts[0].items() if key != "config"}
        print(json.dumps(alone if len(verdicts) == 1 else verdicts, indent=2))
    return EXIT_DONE if all(verdict["valid"] for verdict in verdicts) else EXIT_WRONG_INPUT


def _verdict(config: str, valid: bool, deep: bool, diagnostics: Sequence[Diagnostic]) -> dict[str, Any]:
    depth = "imports" if deep else "names"
    return {"config": config, "valid": valid, "depth": depth, "diagnostics": [to_data(d) for d in diagnostics]}


def _checked(config_path: str, arguments: RunArguments, catalog: Catalog, *, deep: bool) -> tuple[Diagnostic, ...]:
    """Return the warnings about a config. Raises :class:`InputError` with all that is wrong, to the depth asked for.

    What is wrong with the config itself hides what a run would find out: no run can be made of it.
    """
    from automodel_core.config.rules import ARGUMENT_RULES, RULES
    from automodel_core.preflight.run_rules import places_rules

    names = (*RULES, *places_rules(catalog), *ARGUMENT_RULES)
    if not deep:
        return _load(config_path, arguments, catalog, names).warnings
    from automodel_core.training.deep_check import check_deeply

    try:
        config = _load(config_path, arguments, catalog, RULES)
    except InputError:
        _load(config_path, arguments, catalog, names)
        raise
    check_deeply(config, arguments.plugin_files, catalog)
    return config.warnings


def _show(config_path: str, arguments: RunArguments, catalog: Catalog) -> int:
    from automodel_core.config.changes import changes, changes_text
    from automodel_core.config.inherited import inherited
    from automodel_core.config.provenance import origins, provenance_text
    from automodel_core.config.rules import RULES

    kind = "json" if "--json" in arguments.flags else arguments.values.get("--output", "yaml")
    if kind not in _FORMATS:
        helps = (*did_you_mean(kind, _FORMATS), "the kinds are `yaml`, `toml` and `json`")
        raise InputError(Diagnostic("AM705", f"`--output {kind}` is no kind of output", helps=helps))
    config = _load(config_path, arguments, catalog, RULES)
    print_diagnostics(config.warnings)
    if "--provenance" in arguments.flags:
        known = (*origins(config), *inherited(config))
        found = [{"key": one.key, "value": one.value, "from": str(one)} for one in known]
        print(json.dumps(found, indent=2) if kind == "json" else provenance_text(known).rstrip("\n"))
        return EXIT_DONE
    if "--changes" in arguments.flags:
        changed = [attrs.asdict(change) for change in changes(config)]
        print(json.dumps(changed, indent=2) if kind == "json" else changes_text(config).rstrip("\n") or "no overrides")
        return EXIT_DONE
    print(_written(config, kind).rstrip("\n"))
    return EXIT_DONE


def _written(config: RunConfig, kind: str) -> str:
    """Return the resolved config as text. What is written as YAML or TOML loads to the same config."""
    from automodel_core.config.dump import dump_yaml
    from automodel_core.config.dump_toml import NotTomlError
    from automodel_core.config.references import escape_references

    if kind == "json":
        return json.dumps(config.public(), indent=2)
    if kind == "yaml":
        return dump_yaml(escape_references(config.public()))
    try:
        return config.public_toml()
    except NotTomlError as error:
        raise InputError(Diagnostic("AM106", str(error), helps=("use `-o yaml`",))) from None


def _load(config_path: str, arguments: RunArguments, catalog: Catalog, rules: Iterable[Rule]) -> RunConfig:
    from automodel_core.config.load import REQUIRED_SECTIONS, load_run_config
    from automodel_core.config.ranks import number_of_ranks
    from automodel_core.config.rules import NOTES
    from automodel_core.preflight.run_rules import recipe_rule, sections_rule

    return load_run_config(
        config_path,
        overrides=arguments.overrides,
        vocabulary=catalog.vocabulary(),
        required=lambda document: needed_sections(document, None, catalog, REQUIRED_SECTIONS),
        world_size=number_of_ranks(arguments.values.get("--world-size")),
        rules=(*rules, *NOTES, recipe_rule(catalog), sections_rule(catalog)),
    )


def _unknown_action(line: CommandLine, action: str | None) -> Diagnostic:
    actions = "the actions are `validate`, `show`, `schema` and `migrate`"
    if action is None:
        return Diagnostic("AM702", f"`{PROGRAM} config` needs an action", line.end(), helps=(actions,))
    helps = (*did_you_mean(action, _ACTIONS), actions)
    return Diagnostic("AM702", f"`config` has no action `{action}`", line.span(1), helps=helps)
