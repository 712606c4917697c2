"""The names of dtypes: every spelling in use, one meaning each. Nothing is imported to read them."""

from __future__ import annotations

from typing import Any, Final

from automodel_core.diagnostics import did_you_mean

AUTO: Final = "auto"
"""As the checkpoint has it. Not a dtype, and left to whoever is given it."""

FLOATS: Final = ("float32", "bfloat16", "float16", "float64")
"""The dtypes that the parameters of a model can have."""

_OTHERS: Final = (
    *("int8", "int16", "int32", "int64", "uint8", "bool", "complex64", "complex128"),
    *("float8_e4m3fn", "float8_e5m2"),
)
_ALIASES: Final = {
    "float32": ("fp32", "f32", "float", "single"),
    "bfloat16": ("bf16",),
    "float16": ("fp16", "f16", "half"),
    "float64": ("fp64", "f64", "double"),
    "int64": ("long",),
    "int32": ("int",),
    "int16": ("short",),
}
_NAMES: Final = {
    **{name: name for name in (*FLOATS, *_OTHERS, AUTO)},
    **{alias: name for name, aliases in _ALIASES.items() for alias in aliases},
}


def dtype_name(text: str) -> str | None:
    """Return torch's name of the dtype that ``text`` spells, ``auto`` for itself, or ``None``.

    Case does not count, and ``torch.`` may stand before the name.
    """
    return _NAMES.get(text.casefold().removeprefix("torch."))


def dtype_help(text: str) -> str:
    """Return what to write instead of a text that spells no dtype."""
    spelled = text.casefold().removeprefix("torch.")
    close = did_you_mean(spelled, (AUTO, *FLOATS)) or did_you_mean(spelled, _NAMES)
    return close[0] if close else "the dtypes are " + ", ".join(f"`{name}`" for name in (AUTO, *FLOATS))


def is_dtype(annotation: Any) -> bool:
    """Return whether an annotation is ``torch.dtype``, imported or as a source spells it."""
    return isinstance(annotation, type) and (annotation.__module__, annotation.__qualname__) == ("torch", "dtype")
