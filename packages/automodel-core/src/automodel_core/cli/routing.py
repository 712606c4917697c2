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
from automodel_core.plugins.settings import DISABLE_VARIABLE, normalised
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
    state = None if domain is None else _state_of_our_domain(catalog, domain)
    if domain is not None and state not in (None, "ok"):
        raise InputError(_unusable_domain(line, domain, str(state)))
    if command not in commands(catalog):
        raise InputError(_unknown_command(catalog, line))
    raise InputError(_unknown_domain(catalog, line, domain))


def _state_of_our_domain(catalog: Catalog, domain: str) -> str | None:
    """Return ``missing`` or the status of the package when ``domain`` is one of ours, ``None`` when it is not."""
    if domain not in DOMAIN_DISTRIBUTIONS:
        return None
    found = (p.status for p in catalog.plugins if normalised(p.distribution) == DOMAIN_DISTRIBUTIONS[domain])
    return next(found, "missing")


def _unusable_domain(line: CommandLine, domain: str, state: str) -> Diagnostic:
    package = DOMAIN_DISTRIBUTIONS[domain]
    message, hint = {
        "missing": (f"the domain `{domain}` is not installed", f"pip install {package}"),
        "disabled": (f"the domain `{domain}` is switched off", f"{DISABLE_VARIABLE} or the project file disables it"),
        "broken": (f"the domain `{domain}` is broken", f"`{PROGRAM} plugins list` says why"),
    }[state]
    return Diagnostic("AM701", message, line.span(1), helps=(hint,))


def _unknown_command(catalog: Catalog, line: CommandLine) -> Diagnostic:
    word = line.words[0]
    known = (*commands(catalog), *TOOLS)
    helps = [*did_you_mean(word, known), _routes_help(catalog, catalog.routes)]
    if not catalog.routes:
        helps.append("the domains are packages of their own, for example `pip install automodel-llm`")
    message = f"unknown option `{word}`" if word.startswith("-") else f"unknown command `{word}`"
    return Diagnostic("AM703" if word.startswith("-") else "AM701", message, line.span(0), helps=tuple(helps))


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
