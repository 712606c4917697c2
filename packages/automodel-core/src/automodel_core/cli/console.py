"""Printing for people: results on stdout, what is wrong on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.diagnostics.render import render, render_concise
from automodel_core.plugins import Catalog


def print_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """Print each diagnostic on stderr, with its place and what to do."""
    if diagnostics:
        print(render(diagnostics, sys.stderr), end="", file=sys.stderr)


def print_plugin_problems(catalog: Catalog, *, but: Sequence[Diagnostic] = ()) -> Sequence[Diagnostic]:
    """Print one line for each installed plugin that is broken, contested or slow, and return what was known by now.

    ``but`` are those that were printed before.
    """
    problems = catalog.problems()
    print(render_concise(problem for problem in problems if problem not in but), end="", file=sys.stderr)
    return problems
