"""The fields of typed sections: a default, one line of documentation, and a check that gives its reason."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Mapping
from typing import Any

import attrs


@attrs.frozen
class Check:
    """What a value must be, as words after "must be", and the test. Null is never tested.

    ``schema`` are the keywords of JSON Schema that say the same, as far as there are any.
    """

    reason: str
    holds: Callable[[Any], bool] = attrs.field(repr=False)
    schema: Mapping[str, Any] = attrs.field(factory=dict, repr=False, eq=False)

    def __call__(self, instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if value is not None and not self.holds(value):
            raise ValueError(f"`{attribute.name}` must be {self.reason}, got {value!r}")


def option(default: Any, doc: str, check: Check | None = None) -> Any:
    """Return an attrs field of a section."""
    metadata = {"doc": doc, "check": check}
    if isinstance(default, list):
        items = tuple(default)
        return attrs.field(factory=lambda: list(items), metadata=metadata, validator=check)
    return attrs.field(default=default, metadata=metadata, validator=check)


POSITIVE = Check("at least 1", lambda value: isinstance(value, str) or value >= 1, {"minimum": 1})
NOT_NEGATIVE = Check("0 or more", lambda value: value >= 0, {"minimum": 0})
ABOVE_ZERO = Check("more than 0", lambda value: value > 0, {"exclusiveMinimum": 0})
BELOW_ONE = Check("at least 0 and less than 1", lambda value: 0 <= value < 1, {"minimum": 0, "exclusiveMaximum": 1})
PORT = Check("a port from 1 to 65535", lambda value: 1 <= value <= 65535, {"minimum": 1, "maximum": 65535})
SEED = Check("from 0 to 2**63 - 1", lambda value: 0 <= value < 2**63, {"minimum": 0, "maximum": 2**63 - 1})
SIGNALS = Check(
    "the name of a signal, such as `SIGTERM`, or a list of names",
    lambda value: all(name in signal.Signals.__members__ for name in ([value] if isinstance(value, str) else value)),
)
NOT_EMPTY = Check("text that is not empty", lambda value: bool(value), {"minLength": 1, "minItems": 1})


_SIZE_IN_BYTES = re.compile(r"[0-9]+(\.[0-9]+)? ?[KMGT]?i?B")

BYTE_SIZE = Check(
    "a size above zero such as `5GB`",
    lambda value: _SIZE_IN_BYTES.fullmatch(value) is not None and float(value.rstrip("KMGTiB ")) > 0,
    {"pattern": f"^{_SIZE_IN_BYTES.pattern}$"},
)
