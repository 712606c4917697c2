"""The command line. ``main`` is what the installed ``automodel`` command calls."""

from automodel_core.cli.app import main

__all__ = ["main"]
