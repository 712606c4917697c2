"""What becomes of the names that configs of other systems use: done here, done in another way, or not available.

``python -m automodel_core.config.compatibility NAMES.tsv docs/compatibility.md`` renews the tables of the page from
a table of names (columns ``kind``, ``name`` and ``configs``, how many published configs use it).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import attrs

from automodel_core.config.retired import shown_value
from automodel_core.config.trust import declared_owner, is_never, trusted_prefix
from automodel_core.config.vocabulary import Vocabulary
from automodel_core.specs import RetiredKey, TargetSpec

if TYPE_CHECKING:
    from automodel_core.plugins import Catalog

Outcome = Literal["resolved", "fallback", "not available"]

NAMES_MARKS: Final = ("<!-- names: written by a command -->", "<!-- end of names -->")
KEYS_MARKS: Final = ("<!-- keys: written by the same command -->", "<!-- end of keys -->")


@attrs.frozen
class Fate:
    """What becomes of a name: the outcome, what does the job here, and what a user is told."""

    outcome: Outcome
    ours: str = ""
    note: str = ""


@attrs.frozen
class KnownName:
    """A name of another system: ``kind`` is ``target`` or ``recipe``; ``configs`` is empty where it was not counted."""

    kind: str
    name: str
    configs: str = ""


def fate_of_target(name: str, vocabulary: Vocabulary) -> Fate:
    """Return what becomes of a name under ``_target_``, or of a callable that an argument names."""
    owner = declared_owner(name, vocabulary)
    if owner is not None:
        spec = vocabulary.targets[owner]
        ours = spec.name + name[len(owner) :]
        stands_in = isinstance(spec, TargetSpec) and owner in spec.fallback_for
        return Fate("fallback", ours, spec.note) if stands_in else Fate("resolved", ours)  # type: ignore[union-attr]
    for known in vocabulary.retired_keys:
        if known.values is not None and name in known.values:
            section = known.key.removesuffix("._target_")
            return Fate("fallback" if known.note else "resolved", f"the section `{section}`", known.note)
    if not is_never(name) and trusted_prefix(name, None, vocabulary) is not None:
        return Fate("resolved", name)
    return Fate("not available")


def fate_of_recipe(name: str, recipes: Mapping[str, str]) -> Fate:
    """Return what becomes of the name of a recipe. ``recipes`` are our names by every name."""
    return Fate("resolved", recipes[name]) if name in recipes else Fate("not available")


def read_names(file: Path) -> tuple[KnownName, ...]:
    """Return the rows of a table of names."""
    _, *lines = file.read_text(encoding="utf-8").splitlines()
    return tuple(KnownName(*line.split("\t")) for line in lines)


def names_table(names: Iterable[KnownName], catalog: Catalog) -> str:
    """Return the Markdown table of names and what becomes of them."""
    vocabulary = catalog.vocabulary()
    recipes = {name: owned.spec.name for name, owned in catalog.recipes.items()}
    rows = ["| name elsewhere | configs | outcome | here |", "| --- | --- | --- | --- |"]
    for known in names:
        is_recipe = known.kind == "recipe"
        fate = fate_of_recipe(known.name, recipes) if is_recipe else fate_of_target(known.name, vocabulary)
        ours = fate.ours if fate.ours.startswith("the section") or not fate.ours else f"`{fate.ours}`"
        told = ": ".join(filter(None, (ours, fate.note)))
        rows.append(f"| `{known.name}` | {known.configs} | {fate.outcome} | {told} |")
    return "\n".join(rows)


def keys_table(retired: Sequence[RetiredKey]) -> str:
    """Return the Markdown table of keys that may stay without effect."""
    rows = ["| key | may be | said |", "| --- | --- | --- |"]
    for known in retired:
        allowed = "anything" if known.values is None else ", ".join(f"`{shown_value(v)}`" for v in known.values)
        rows.append(f"| `{known.key}` | {allowed} | {known.note} |")
    return "\n".join(rows)


def renewed_page(page: str, names: Sequence[KnownName], catalog: Catalog) -> str:
    """Return ``page`` with what stands between the marks written anew."""
    page = _between(page, NAMES_MARKS, names_table(names, catalog))
    return _between(page, KEYS_MARKS, keys_table(catalog.vocabulary().retired_keys))


def _between(page: str, marks: tuple[str, str], text: str) -> str:
    begin, end = marks
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


if __name__ == "__main__":
    from automodel_core.plugins import Catalog

    target = Path(sys.argv[2])
    table = read_names(Path(sys.argv[1]))
    target.write_text(renewed_page(target.read_text(encoding="utf-8"), table, Catalog.discover()), encoding="utf-8")
