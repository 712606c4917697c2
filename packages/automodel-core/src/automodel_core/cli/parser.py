"""argparse for the tools, with our own way of saying what is wrong."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.errors import InputError


class Parser(argparse.ArgumentParser):
    """Raises :class:`InputError` instead of printing and leaving; abbreviations of options are not accepted."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        raise InputError(Diagnostic("AM709", message, helps=(self.format_usage().strip(),)))
