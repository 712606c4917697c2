"""The reference of the hooks as Markdown, from the specifications themselves.

``python -m automodel_core.hookspecs.reference`` prints it; with a file as argument it replaces what stands between the
two markers of that file. A test keeps ``docs/hooks.md`` equal to it.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from automodel_core.hookspecs import PROJECT, builders, declarations, events, stages

BEGIN: Final = "<!-- reference: python -m automodel_core.hookspecs.reference docs/hooks.md -->"
END: Final = "<!-- end of the reference -->"

_CHAPTERS: Final = (declarations, builders, stages, events)
_ROLE: Final = re.compile(r":\w+:`~?([^`]+)`")


def reference() -> str:
    """Return one chapter for each kind of hook, with every signature and docstring."""
    return "\n\n".join(block for module in _CHAPTERS for block in _chapter(module))


def with_reference(text: str) -> str:
    """Return ``text`` with the reference between its markers. Raise :class:`ValueError` when they are missing."""
    before, found, rest = text.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not found or not closed:
        raise ValueError(f"the text lacks `{BEGIN}` or `{END}`")
    return f"{before}{BEGIN}\n\n{reference()}\n\n{END}{after}"


def signature(hook: Callable[..., Any]) -> str:
    """Return the signature of a hook as it stands in the source."""
    parameters = [f"{p.name}: {p.annotation}" for p in inspect.signature(hook).parameters.values()]
    returned = inspect.signature(hook).return_annotation
    return f"def {hook.__name__}({', '.join(parameters)}) -> {returned}"


def _chapter(module: ModuleType) -> Iterator[str]:
    title, _, rest = inspect.cleandoc(module.__doc__ or "").partition(": ")
    yield f"## {title}"
    yield _markdown(rest[:1].upper() + rest[1:])
    for function in vars(module).values():
        if inspect.isfunction(function) and hasattr(function, f"{PROJECT}_spec"):
            yield f"### `{function.__name__}`"
            yield f"```python\n{signature(function)}\n```"
            yield _markdown(inspect.cleandoc(function.__doc__ or ""))


def _markdown(text: str) -> str:
    """Return a docstring without its roles and double backticks, each paragraph on one line."""
    plain = _ROLE.sub(r"`\1`", text).replace("``", "`")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in plain.split("\n\n"))


def main(words: list[str]) -> int:
    """Print the reference, or write it into the file that is named."""
    if not words:
        print(reference())
        return 0
    path = Path(words[0])
    path.write_text(with_reference(path.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
