"""From the first words of the command line to a route."""

from __future__ import annotations

from collections.abc import Iterable

from automodel_core.cli.command_line import PROGRAM, CommandLine
from automodel_core.cli.tools import TOOLS
from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.diagnostics.suggest import closest, did_you_mean
from automodel_core.errors import InputError
from automodel_core.plugins import Catalog, Owned
from automodel_core.plugins.domains import DOMAIN_DISTRIBUTIONS
from automodel_core.specs import Route


def commands(catalog: Catalog) -> tuple[str, ...]:
    """Return the commands of the installed routes."""
    return tuple(dict.fromkeys(command for command, _ in catalog.routes))


def domains(catalog: Catalog, command: str) -> tuple[str, ...]:
    """Return the domains that ``command`` has, without aliases."""
    return tuple(dict.fromkeys(owned.spec.domain for (word, _), owned in catalog.routes.items() if word == command))


def find_route(catalog: Catalog, line: CommandLine) -> Owned[Route]:
    """Return the route that the first two words name. Raise :class:`InputError` that says what there is instead."""
    command = line.words[0]
    domain = line.words[1] if len(line.words) > 1 and not line.words[1].startswith("-") else None
    if domain is not None and (command, domain) in catalog.routes:
        return catalog.routes[command, domain]
    if domain is not None and _is_missing(catalog, domain):
        raise InputError(_missing_domain(line, domain))
    if command not in commands(catalog):
        raise InputError(_unknown_command(catalog, line))
    raise InputError(_unknown_domain(catalog, line, domain))


def _is_missing(catalog: Catalog, domain: str) -> bool:
    """Say whether ``domain`` is one of ours whose package is not installed (or is switched off or broken)."""
    usable = {plugin.distribution for plugin in catalog.plugins if plugin.status == "ok"}
    return domain in DOMAIN_DISTRIBUTIONS and DOMAIN_DISTRIBUTIONS[domain] not in usable


def _missing_domain(line: CommandLine, domain: str) -> Diagnostic:
    return Diagnostic(
        "AM701",
        f"the domain `{domain}` is not installed",
        line.span(1),
        helps=(f"pip install {DOMAIN_DISTRIBUTIONS[domain]}", "`automodel plugins list` shows what there is"),
    )


def _unknown_command(catalog: Catalog, line: CommandLine) -> Diagnostic:
    word = line.words[0]
    known = (*commands(catalog), *TOOLS)
    helps = [*did_you_mean(word, known), _routes_help(catalog, catalog.routes)]
    if not catalog.routes:
        helps.append("the domains are packages of their own, for example `pip install automodel-llm`")
    message = f"unknown option `{word}`" if word.startswith("-") else f"unknown command `{word}`"
    return Diagnostic("AM702" if not word.startswith("-") else "AM703", message, line.span(0), helps=tuple(helps))


def _unknown_domain(catalog: Catalog, line: CommandLine, domain: str | None) -> Diagnostic:
    command = line.words[0]
    routes = [key for key in catalog.routes if key[0] == command]
    if domain is None:
        message = f"`{PROGRAM} {command}` needs a domain"
        return Diagnostic("AM701", message, line.end(), helps=(_routes_help(catalog, routes),))
    elsewhere = [f"`{PROGRAM} {c} {d}`" for c, d in catalog.routes if d == domain]
    helps = [*did_you_mean(domain, [word for _, word in routes]), _routes_help(catalog, routes)]
    if elsewhere and not closest(domain, [word for _, word in routes]):
        helps.insert(0, f"`{domain}` has {', '.join(elsewhere)}")
    return Diagnostic("AM701", f"`{command}` has no domain `{domain}`", line.span(1), helps=tuple(helps))


def _routes_help(catalog: Catalog, keys: Iterable[tuple[str, str]]) -> str:
    shown = dict.fromkeys(f"`{catalog.routes[key].spec.command} {catalog.routes[key].spec.domain}`" for key in keys)
    return "installed: " + (", ".join(shown) or "no route at all")
