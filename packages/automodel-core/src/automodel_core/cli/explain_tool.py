"""``automodel explain CODE``: what a diagnostic means and what to do about it."""

from __future__ import annotations

from automodel_core.cli.command_line import PROGRAM, CommandLine
from automodel_core.cli.parser import Parser
from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.diagnostics.suggest import did_you_mean
from automodel_core.errors import EXIT_DONE, InputError
from automodel_core.plugins import Catalog


def main(line: CommandLine, catalog: Catalog) -> int:
    """Run the tool."""
    from automodel_core.diagnostics.codes import CODES
    from automodel_core.diagnostics.explanations import explanations

    parser = Parser(prog=f"{PROGRAM} explain", description="say more about a diagnostic")
    parser.add_argument("code", metavar="CODE", help="the code in brackets, for example AM101")
    code = parser.parse_args(line.words[1:]).code.upper()
    if code not in CODES:
        raise InputError(Diagnostic("AM711", f"there is no diagnostic `{code}`", helps=did_you_mean(code, CODES)))
    print(f"{code}: {CODES[code]}")
    found = explanations().get(code)
    if found is not None:
        print(f"\n{found.text()}", end="")
    return EXIT_DONE
