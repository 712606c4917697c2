"""Asking one plugin one declaration, and believing nothing about the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

import attrs

from automodel_core import specs
from automodel_core.config.paths import PathError, parse_path
from automodel_core.plugins.contract import implementations
from automodel_core.plugins.installed import describe_exception, quiet_stdout

DECLARED_TYPES: Final[Mapping[str, tuple[type, ...]]] = MappingProxyType(
    {
        "routes": (specs.Route,),
        "recipes": (specs.RecipeSpec,),
        "recipe_functions": (specs.RecipeFunctionSpec,),
        "models": (specs.ModelSpec,),
        "targets": (specs.TargetSpec, specs.TrustedPrefix, specs.KeyAlias, specs.RetiredKey),
        "sections": (specs.SectionSpec,),
        "doctor_checks": (specs.DoctorCheck,),
        "assets": (specs.AssetSpec,),
    }
)
"""What each declaration returns an iterable of."""


class DeclarationFault(Exception):
    """A plugin failed to declare something; the text says what and why."""


def ask(plugin: object, hook: str) -> tuple[Any, ...]:
    """Return what ``plugin`` declares through ``hook``. Raise :class:`DeclarationFault` when it cannot be used."""
    declared: list[Any] = []
    for implementation in implementations(plugin):
        if implementation.hook == hook:
            try:
                with quiet_stdout():
                    answer = implementation.function()
                    declared.extend(_items(hook, answer))
            except DeclarationFault:
                raise
            except (Exception, SystemExit) as error:
                raise DeclarationFault(f"`{hook}` raised {describe_exception(error)}") from error
    return tuple(declared)


def _items(hook: str, answer: Any) -> list[Any]:
    expected = DECLARED_TYPES[hook]
    wanted = " or ".join(f"`{kind.__name__}`" for kind in expected)
    if isinstance(answer, (str, bytes, Mapping)) or not isinstance(answer, Iterable):
        raise DeclarationFault(f"`{hook}` returned {_shown(answer)}, not an iterable of {wanted}")
    items: list[Any] = list(answer)
    for item in items:
        if type(item) not in expected:
            raise DeclarationFault(f"`{hook}` returned {_shown(item)} among its items, not {wanted}")
        _check_fields(hook, item)
        if isinstance(item, specs.KeyAlias):
            _check_paths(hook, item)
    return items


def _check_paths(hook: str, alias: specs.KeyAlias) -> None:
    """Check that both sides of an alias are dotted keys."""
    for path in (alias.old, alias.new):
        try:
            parse_path(path)
        except PathError as error:
            raise DeclarationFault(f"`{hook}` returned a `KeyAlias` with a path that is none: {error}") from None


def schema_fault(spec: specs.SectionSpec) -> str | None:
    """Return why the schema of a section cannot be used, or ``None`` when it can, or there is none."""
    from automodel_core.config.schemas import schema_fields

    try:
        with quiet_stdout():
            schema_fields(spec)
    except (Exception, SystemExit) as error:
        return f"the schema `{spec.schema}` of the section `{spec.key}` raised {describe_exception(error)}"
    return None


_SPEC_TUPLES: Final[Mapping[str, type]] = MappingProxyType(
    {"tuple[RouteOption, ...]": specs.RouteOption, "tuple[AssetWheel, ...]": specs.AssetWheel}
)
_FIELD_TYPES: Final[Mapping[str, type]] = MappingProxyType({"str": str, "bool": bool})


def _check_fields(hook: str, item: Any) -> None:
    """Check what the annotations of a spec promise; attrs does not, and ``aliases="x"`` would be one alias a letter."""
    fields: tuple[Any, ...] = attrs.fields(type(item))
    for field in fields:
        value = getattr(item, field.name)
        promised = str(field.type)
        if not _is_sound(value, promised, may_be_empty=field.default == ""):
            where = f"`{field.name}` of a `{type(item).__name__}`"
            raise DeclarationFault(f"`{hook}` returned {_shown(value)} as {where}, not {promised}")


def _is_sound(value: Any, promised: str, *, may_be_empty: bool) -> bool:
    if promised.endswith(" | None"):
        return value is None or _is_sound(value, promised.removesuffix(" | None"), may_be_empty=may_be_empty)
    scalar = _FIELD_TYPES.get(promised)
    if scalar is not None:
        return isinstance(value, scalar) and (value != "" or may_be_empty)
    if promised == "tuple[Any, ...]":
        return isinstance(value, tuple)
    if promised == "tuple[tuple[Any, Any], ...]":
        return isinstance(value, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)
    if promised in _SPEC_TUPLES:
        return isinstance(value, tuple) and all(type(part) is _SPEC_TUPLES[promised] for part in value)
    container: type[frozenset[Any]] | type[tuple[Any, ...]] = frozenset if promised.startswith("frozenset") else tuple
    return isinstance(value, container) and all(isinstance(part, str) and part for part in value)


def _shown(value: Any) -> str:
    text = repr(value)
    return f"`{text if len(text) <= 60 else text[:57] + '...'}`"
