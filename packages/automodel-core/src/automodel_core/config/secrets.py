"""Values that are shown to nobody: what a config calls a password, a key or a token of access."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

HIDDEN: Final = "********"
_NAME: Final = re.compile(
    r"(^|_)(password|passwd|passphrase|secret|credentials?|(api|access|private|secret)_?key|(auth|access|api|hf|hub|bearer)_token)$"
    r"|^token$",
    re.IGNORECASE,
)


def is_secret(name: object) -> bool:
    """Return whether a key holds a secret by its name. ``pad_token`` and its like do not."""
    return isinstance(name, str) and _NAME.search(name) is not None


def without_secrets(data: Any) -> Any:
    """Return plain data in which the texts under secret names are hidden."""
    if isinstance(data, Mapping):
        return {key: _shown(key, value) for key, value in data.items()}
    return [without_secrets(item) for item in data] if isinstance(data, list) else data


def _shown(key: object, value: Any) -> Any:
    return HIDDEN if is_secret(key) and isinstance(value, str) and value else without_secrets(value)
