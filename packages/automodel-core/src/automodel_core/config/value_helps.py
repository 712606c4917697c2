"""What to type instead of a value that a typed section refuses."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args, get_origin

import attrs

from automodel_core.config.dump import dump_value
from automodel_core.config.scalars import is_number_text
from automodel_core.config.types import describe_type
from automodel_core.diagnostics import did_you_mean

_YES: Final = ("yes", "on", "y")
_NO: Final = ("no", "off", "n")


def type_help(value: object, annotation: Any, prefix: str) -> tuple[str, tuple[str, ...]]:
    """Return a label for a value of the wrong type and what to type instead; ``prefix`` is the key before it."""
    expected = describe_type(annotation)
    if isinstance(value, str):
        return _text_help(value, annotation, prefix)
    if isinstance(value, bool) and "a mapping" in expected:
        return "not a mapping", (f"write `{prefix}{{}}` for its defaults, or `{prefix}null`",)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 and "integer" in expected:
        return "a number with a fraction", (f"write `{prefix}{int(value)}`",)
    if isinstance(value, int | float) and "text" in expected:
        return "not text", (f"quote it: `{prefix}'{str(value).lower()}'`",)
    if type(value) is int and value in (0, 1) and "`true`" in expected:
        return "a number", (f"write `{prefix}{str(bool(value)).lower()}`",)
    if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], list | dict) and "list" not in expected:
        return "a list", (f"write `{prefix}{dump_value(value[0])}`",)
    return "wrong type", ()


def _text_help(value: str, annotation: Any, prefix: str) -> tuple[str, tuple[str, ...]]:
    expected = describe_type(annotation)
    if is_number_text(value):
        return "text, because it is quoted", (f"drop the quotes: `{prefix}{value}`",)
    truth = _truth(value)
    if truth is not None and "`true`" in expected:
        label = "text, because it is quoted" if value.lower() == truth else "text in YAML 1.2"
        return label, (f"write `{prefix}{truth}`",)
    choices = [choice for choice in _choices(annotation) if isinstance(choice, str)]
    if choices:
        return "not one of the choices", _nearest(value, choices)
    without = value.replace("_", "").replace(",", "")
    if without != value and is_number_text(without):
        return "text, not a number", (f"write `{prefix}{without}`",)
    number, sharp, _ = value.partition("#")
    if sharp and is_number_text(number.strip()):
        return "text, with the comment in it", ("put a space before the `#`",)
    if expected.startswith("a list"):
        return "not a list", (f"write a list: `{prefix}{dump_value([value])}`",)
    return "wrong type", ()


def _truth(value: str) -> str | None:
    """Return the boolean that a word means elsewhere."""
    word = value.lower()
    if word in ("true", "false"):
        return word
    return "true" if word in _YES else "false" if word in _NO else None


def _nearest(value: str, choices: list[str]) -> tuple[str, ...]:
    return did_you_mean(value, choices) or ("the choices are " + ", ".join(f"`{choice}`" for choice in choices),)


def _choices(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [choice for arm in get_args(annotation) for choice in _choices(arm)]


def default_help(schema: type, path: tuple[Any, ...]) -> tuple[str, ...]:
    """Return what a field is when it is left out; nothing for one that must be there, or whose default is no value."""
    field = attrs.fields_dict(schema).get(str(path[0])) if len(path) == 1 else None
    if field is None:
        return ()
    default: Any = field.default
    if isinstance(default, attrs.Factory) and not default.takes_self:  # type: ignore[arg-type]
        default = default.factory()
    if default is not None and not isinstance(default, str | int | float | list):
        return ()
    return (f"without the key it is `{dump_value(default)}`",)
