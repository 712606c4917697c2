"""Splitting what follows ``automodel <command> <domain>``: our options, the launcher's, and overrides.

argparse binds ``--optimizer.lr 3e-4 cfg.yaml`` wrongly when it lets unknown options through, so this is written out:
an option that is not ours is an override and owns the next word, unless it holds its value itself (``--key=value``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from automodel_core.cli.command_line import CommandLine
from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.diagnostics.suggest import did_you_mean
from automodel_core.errors import InputError
from automodel_core.specs import RouteOption

OPTIONS: Final = ("--config", "--plugin", "--trust", "--help")
LAUNCHER_COUNTS: Final = frozenset({"--nproc-per-node", "--nnodes"})
LAUNCHER_OPTIONS: Final = frozenset({*LAUNCHER_COUNTS, "--node-rank", "--master-addr", "--master-port", "--standalone"})
_WITH_VALUE: Final = {"-c": "config", "--config": "config", "--plugin": "plugin", "--trust": "trust"}
_NUMBER: Final = re.compile(r"-(\d|\.\d|inf\b|\.inf\b)", re.IGNORECASE)


@attrs.frozen
class RunArguments:
    """What a run was asked for; ``overrides`` are words as they were typed."""

    config: str | None = None
    plugin_files: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    """Modules, files and directories that the user vouches for."""
    overrides: tuple[str, ...] = ()
    wants_help: bool = False
    flags: frozenset[str] = frozenset()
    values: Mapping[str, str] = attrs.field(factory=dict)
    more_configs: tuple[str, ...] = ()
    """The configs after the first, of a tool that takes several."""


@attrs.define
class _Splitter:
    line: CommandLine
    position: int
    positional_config: bool = False
    several_configs: bool = False
    flags: frozenset[str] = frozenset()
    options: Mapping[str, RouteOption] = attrs.field(factory=dict)
    values: frozenset[str] = frozenset()
    flags_given: set[str] = attrs.field(factory=set)
    values_given: dict[str, str] = attrs.field(factory=dict)
    configs: list[tuple[int, str]] = attrs.field(factory=list)
    plugin_files: list[str] = attrs.field(factory=list)
    trusted: list[str] = attrs.field(factory=list)
    overrides: list[str] = attrs.field(factory=list)
    problems: list[Diagnostic] = attrs.field(factory=list)
    wants_help: bool = False

    def split(self) -> None:
        while self.position < len(self.line.words):
            word = self.line.words[self.position]
            name, has_value, value = word.partition("=")
            if word in ("-h", "--help"):
                self.wants_help = True
                self.position += 1
            elif word in self.flags:
                self.flags_given.add(word)
                self.position += 1
            elif name in self.values:
                self._tool_option(name, value if has_value else None)
            elif name in self.options:
                self._route_option(self.options[name], value if has_value else None)
            elif name in _WITH_VALUE or (word.startswith("-c") and word != "-c" and not word.startswith("--")):
                self._own_option(name, value if has_value else None)
            elif name.replace("_", "-") in LAUNCHER_OPTIONS or name.startswith("--rdzv"):
                self._launcher_option(name.replace("_", "-"), value if has_value else None)
            elif word.startswith("--"):
                self._long_override(name, bool(has_value))
            elif word.startswith("-"):
                self._refuse("AM703", f"unknown option `{word}`", helps=_UNKNOWN_OPTION_HELP)
            else:
                self._plain_word(word)

    def _tool_option(self, name: str, value: str | None) -> None:
        at = self.position
        if value is None:
            value = self._next_value(name)
        else:
            self.position += 1
        if value is None:
            self.problems.append(Diagnostic("AM705", f"`{name}` needs a value", self.line.span(at)))
        else:
            self.values_given[name] = value

    def _route_option(self, option: RouteOption, value: str | None) -> None:
        at = self.position
        if option.constant is not None:
            self.position += 1
            self.overrides.append(f"--{option.key}={option.constant}")
            return
        if value is None:
            # The next word is the value whatever it begins with: a prompt may well begin with a dash.
            value = self.line.words[at + 1] if at + 1 < len(self.line.words) else None
            self.position += 1
        self.position += 1
        if value is None:
            self.problems.append(Diagnostic("AM705", f"`{option.flag}` needs a value", self.line.span(at)))
        else:
            # These need the YAML library, which `--help` does without.
            from automodel_core.config import dump_value
            from automodel_core.config.references import escape_references

            self.overrides.append(f"--{option.key}={dump_value(escape_references(value))}")

    def _own_option(self, name: str, value: str | None) -> None:
        at = self.position
        if name not in _WITH_VALUE:  # -cfile
            name, value = "-c", self.line.words[at][2:].removeprefix("=")
            self.position += 1
        elif value is None:
            value = self._next_value(name)
        else:
            self.position += 1
        if not value:
            needed = "a module or a file" if name == "--trust" else "a file"
            self.problems.append(Diagnostic("AM704", f"`{name}` needs {needed}", self.line.span(at)))
        elif _WITH_VALUE[name] == "plugin":
            self.plugin_files.append(value)
        elif _WITH_VALUE[name] == "trust":
            self.trusted.append(value)
        else:
            self.configs.append((at, value))

    def _next_value(self, name: str) -> str | None:
        """Return the word after the option at the current position, and step behind it."""
        following = self.position + 1
        words = self.line.words
        if following < len(words) and (not words[following].startswith("-") or _NUMBER.match(words[following])):
            self.position += 2
            return words[following]
        self.position += 1
        return None

    def _launcher_option(self, name: str, value: str | None) -> None:
        at = self.position
        if value is None and name != "--standalone":
            value = self._next_value(name)
        else:
            self.position += 1
        if name in LAUNCHER_COUNTS and value == "1":
            return
        self.problems.append(
            Diagnostic(
                "AM710",
                f"`{name}`: several processes are not available yet in this version",
                self.line.span(at),
                label="starts more than one process",
                helps=("leave it out to run on one process",),
            )
        )

    def _long_override(self, name: str, has_value: bool) -> None:
        at = self.position
        if "-" in name[2:] or name == "--":
            known = (*OPTIONS, *sorted(LAUNCHER_OPTIONS))
            self._refuse("AM703", f"unknown option `{name}`", helps=did_you_mean(name, known) or _UNKNOWN_OPTION_HELP)
        elif has_value:
            self.overrides.append(self.line.words[at])
            self.position += 1
        else:
            value = self._next_value(name)
            if value is None:
                helps = (f"write `{name} VALUE`, or `{name}=VALUE` when the value starts with a dash",)
                self.problems.append(Diagnostic("AM705", f"`{name}` needs a value", self.line.span(at), helps=helps))
            else:
                self.overrides.extend((name, value))

    def _plain_word(self, word: str) -> None:
        if "=" in word or word.startswith("~"):
            self.overrides.append(word)
            self.position += 1
            return
        if self.positional_config and (self.several_configs or not self.configs):
            self.configs.append((self.position, word))
            self.position += 1
            return
        helps = (f"a config is given with `-c {word}`", "an override is written `key=value` or `--key value`")
        self._refuse("AM706", f"unexpected argument `{word}`", helps=helps)

    def _refuse(self, code: str, message: str, *, helps: tuple[str, ...]) -> None:
        self.problems.append(Diagnostic(code, message, self.line.span(self.position), helps=helps))
        self.position += 1


_UNKNOWN_OPTION_HELP: Final = ("the options are `-c/--config FILE`, `--plugin FILE`, `--trust NAME` and `-h/--help`",)


def split_run_arguments(
    line: CommandLine,
    start: int,
    *,
    positional_config: bool = False,
    several_configs: bool = False,
    flags: frozenset[str] = frozenset(),
    options: Iterable[RouteOption] = (),
    values: frozenset[str] = frozenset(),
) -> RunArguments:
    """Split the words of ``line`` from ``start`` on.

    With ``positional_config`` a word that is no override is the config, or one of ``several_configs``; ``flags`` are
    more options without a value; ``options`` are those of a route and become overrides; ``values`` are options of a
    tool that take a value. Raise :class:`InputError` with everything that is wrong, unless help is asked for. A missing
    config is not an error here.
    """
    by_flag = {option.flag: option for option in options}
    splitter = _Splitter(line, start, positional_config, several_configs, flags, by_flag, values)
    splitter.split()
    for position, value in () if several_configs else splitter.configs[1:]:
        message = f"a second config `{value}`: a run has one"
        splitter.problems.append(Diagnostic("AM707", message, line.span(position)))
    if splitter.problems and not splitter.wants_help:
        raise InputError(splitter.problems)
    return RunArguments(
        config=splitter.configs[0][1] if splitter.configs else None,
        plugin_files=tuple(splitter.plugin_files),
        trusted=tuple(splitter.trusted),
        overrides=tuple(splitter.overrides),
        wants_help=splitter.wants_help,
        flags=frozenset(splitter.flags_given),
        values=splitter.values_given,
        more_configs=tuple(value for _, value in splitter.configs[1:]),
    )
