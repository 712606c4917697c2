"""``automodel config migrate``: a config of another system, written in our spelling."""

from __future__ import annotations

import sys
from pathlib import Path

from automodel_core.cli.arguments import RunArguments
from automodel_core.cli.console import print_diagnostics
from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.diagnostics.writing import writing_to
from automodel_core.errors import EXIT_DONE, InputError
from automodel_core.plugins import Catalog


def migrate_config(config: str, arguments: RunArguments, catalog: Catalog) -> int:
    """Print the migrated config, or write it to the file of ``--output``, and say on stderr what is left to do."""
    from automodel_core.config.migration import migrate

    recipes = {name: owned.spec.name for name, owned in catalog.recipes.items()}
    done = migrate(config, catalog.vocabulary(), recipes)
    target = arguments.values.get("--output")
    if target is None:
        print(done.text, end="")
    else:
        _write(Path(target), done.text)
    print_diagnostics(done.problems)
    left = len(done.left_out)
    said = f"{done.changes} keys and names changed, {left} without a counterpart, {len(done.problems)} problems"
    print(said, file=sys.stderr)
    return EXIT_DONE


def _write(path: Path, text: str) -> None:
    if path.exists():
        helps = ("name another file, or move this one away",)
        raise InputError(Diagnostic("AM510", f"`{path}` is there already", helps=helps))
    with writing_to(path.parent, "--output", None):
        path.write_text(text, encoding="utf-8")
