"""``automodel doctor``: checks of this machine and this installation, each with its fix."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from automodel_core.cli.command_line import PROGRAM, CommandLine
from automodel_core.cli.parser import Parser
from automodel_core.diagnostics.render import use_colour
from automodel_core.errors import EXIT_DONE, EXIT_FAILED
from automodel_core.plugins import Catalog

if TYPE_CHECKING:
    from automodel_core.doctor.examination import Examined

_COLOURS = {"ok": "32", "warn": "33", "fail": "31"}
_NAME_WIDTH = 15


def main(line: CommandLine, catalog: Catalog) -> int:
    """Run the tool. The exit code is 1 when a check fails."""
    arguments = _parser().parse_args(line.words[1:])
    from automodel_core.doctor.examination import examine

    examined = examine(catalog, Path(arguments.checkpoints))
    found: Sequence[Examined]
    if arguments.json:
        found = list(examined)
        print(json.dumps([_as_data(entry) for entry in found], indent=2, ensure_ascii=False))
    else:
        found = _print_each(examined, colour=use_colour(sys.stdout))
    return EXIT_FAILED if any(entry.finding.status == "fail" for entry in found) else EXIT_DONE


def _parser() -> argparse.ArgumentParser:
    description = "check this machine and this installation, and say how to repair what is wrong"
    parser = Parser(prog=f"{PROGRAM} doctor", description=description)
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.add_argument(
        "--checkpoints", metavar="DIR", default="checkpoints", help="where checkpoints will go (default: %(default)s)"
    )
    return parser


def _print_each(examined: Iterable[Examined], *, colour: bool) -> Sequence[Examined]:
    """Print each finding as soon as it is known, and the numbers at the end."""
    found = []
    for entry in examined:
        found.append(entry)
        print("\n".join(_lines(entry, colour)), flush=True)
    counts = Counter(entry.finding.status for entry in found)
    print(f"{counts['ok']} ok, {counts['warn']} warn, {counts['fail']} fail")
    return found


def _lines(entry: Examined, colour: bool) -> list[str]:
    finding = entry.finding
    status = f"{finding.status:<4}"
    if colour:
        status = f"\x1b[{_COLOURS[finding.status]}m{status}\x1b[0m"
    first = f"{status}  {finding.check:<{_NAME_WIDTH}}  {finding.message}"
    if finding.status == "ok":
        return [f"{first} ({finding.fix})" if finding.fix else first]
    return [first, f"      {'':<{_NAME_WIDTH}}  fix: {finding.fix}"]


def _as_data(entry: Examined) -> dict[str, str]:
    finding = entry.finding
    return {
        "check": finding.check,
        "owner": entry.owner,
        "status": finding.status,
        "message": finding.message,
        "fix": finding.fix,
    }
