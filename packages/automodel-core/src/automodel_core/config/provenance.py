"""Where every value of a config comes from: a place in a file or on the command line, or a default."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from automodel_core.config.dump import dump_value
from automodel_core.config.paths import Path, format_path
from automodel_core.config.run_config import RunConfig
from automodel_core.diagnostics import Span


@attrs.frozen
class Origin:
    """A value and the ``place`` where it was written, ``None`` for a default, perhaps in another spelling."""

    key: str
    value: Any
    place: Span | None
    written_as: str | None = None
    taken_from: str | None = None
    """The key of another section that lends its value."""

    def __str__(self) -> str:
        said = "default" if self.place is None else str(self.place)
        if self.taken_from is not None:
            return f"{said}, taken from `{self.taken_from}`"
        return said if self.written_as is None else f"{said}, written as `{self.written_as}`"


def origins(config: RunConfig) -> tuple[Origin, ...]:
    """Return every value of the resolved config, in order; secrets are hidden."""
    spellings = {renamed.new: renamed.old for renamed in config.renamed if renamed.new is not None}
    return tuple(
        Origin(key, value, config.span(key), spellings.get(key))
        for path, value in _leaves(config.public(), ())
        for key in (format_path(path),)
    )


def provenance_text(found: Iterable[Origin]) -> str:
    """Return a line for each value: ``key = value  # place``, the places under each other."""
    lines = [(f"{origin.key} = {dump_value(origin.value)}", str(origin)) for origin in found]
    width = min(max((len(text) for text, _ in lines), default=0), 72)
    return "".join(f"{text:<{width}}  # {place}\n" for text, place in lines)


def _leaves(data: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(data, Mapping) and data:
        for key, value in data.items():
            yield from _leaves(value, (*path, key))
    elif isinstance(data, list) and any(isinstance(item, Mapping | list) for item in data):
        for index, item in enumerate(data):
            yield from _leaves(item, (*path, index))
    else:
        yield path, data
