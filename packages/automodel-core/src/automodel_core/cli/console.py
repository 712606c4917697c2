"""Printing for people: results on stdout, what is wrong on stderr, colour only where it is welcome."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TextIO

import attrs

from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.plugins import Catalog


def wants_colour(stream: TextIO) -> bool:
    """Say whether to colour: on a terminal that can, unless ``NO_COLOR`` is set (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Print each diagnostic on stderr, with its place and hints."""
    for diagnostic in diagnostics:
        print(f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}", file=sys.stderr)


def print_plugin_problems(catalog: Catalog) -> None:
    """Print one line for each installed plugin that is broken, contested or slow."""
    for diagnostic in catalog.problems():
        print(f"{diagnostic.severity}: {diagnostic.message}", file=sys.stderr)


def diagnostic_data(diagnostic: Diagnostic) -> dict[str, object]:
    """Return ``diagnostic`` as JSON-able data."""
    return attrs.asdict(diagnostic)
