"""Where a config comes from: a YAML or TOML file, or a Python mapping."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from automodel_core.config.nodes import MappingNode, Node
from automodel_core.config.python_source import nodes_from_data
from automodel_core.config.text import LARGEST_SOURCE_BYTES, SourceText, decoded, source_text
from automodel_core.config.yaml_source import parse_yaml
from automodel_core.diagnostics import Diagnostic, Span, did_you_mean
from automodel_core.errors import InputError


def read_source(source: str | os.PathLike[str] | Mapping[str, Any]) -> MappingNode:
    """Return the nodes of a config, each with its place.

    A path that ends in ``.toml`` is TOML, any other is YAML 1.2; a mapping is taken as it is, with the source
    ``<python>``.

    Raises:
        InputError: whatever is wrong with the source itself, AM100 to AM106.
    """
    if isinstance(source, Mapping):
        return nodes_from_data(source)
    name = os.fspath(source)
    text = decoded(name, _read_bytes(name))
    if name.endswith(".toml"):
        from automodel_core.config.toml_source import parse_toml

        root = parse_toml(text)
        return _checked_root(text, root if root.entries else None)
    return _checked_root(text, parse_yaml(text))


def read_yaml_text(text: str, name: str = "<text>") -> MappingNode:
    """Return the nodes of a YAML text. Raises like :func:`read_source`."""
    source = source_text(name, text)
    return _checked_root(source, parse_yaml(source))


def load_yaml(text: str, name: str = "<text>") -> Any:
    """Return the plain data of any YAML text, with the scalars of YAML 1.2. Raises like :func:`read_source`."""
    node = parse_yaml(source_text(name, text))
    return None if node is None else node.to_data()


def _checked_root(source: SourceText, root: Node | None) -> MappingNode:
    if isinstance(root, MappingNode):
        return root
    section = "[model]" if source.name.endswith(".toml") else "model:"
    example = f"a config starts with a section, for example `{section}`"
    if root is None:
        span = Span(source.name, 1, 1, 1, source.lines[0] if source.lines else "")
        raise InputError(Diagnostic("AM104", f"`{source.name}` is empty", span, "", (example,)))
    raise InputError(
        Diagnostic("AM104", f"`{source.name}` must be a mapping of sections", root.span, "not a mapping", (example,))
    )


def _read_bytes(name: str) -> bytes:
    try:
        with open(name, "rb") as stream:
            return stream.read(LARGEST_SOURCE_BYTES + 1)
    except FileNotFoundError:
        raise InputError(_missing_file(name)) from None
    except IsADirectoryError:
        helps = _configs_in(Path(name))
        raise InputError(Diagnostic("AM100", f"`{name}` is a directory, not a config file", None, "", helps)) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(Diagnostic("AM100", f"cannot read `{name}`: {reason.lower()}")) from None


def _missing_file(name: str) -> Diagnostic:
    parent = Path(name).parent
    if not parent.is_dir():
        return Diagnostic("AM100", f"no such file: `{name}`", None, "", (f"there is no directory `{parent}`",))
    helps = did_you_mean(Path(name).name, (entry.name for entry in parent.iterdir()))
    return Diagnostic("AM100", f"no such file: `{name}`", None, "", helps)


def _configs_in(directory: Path) -> tuple[str, ...]:
    try:
        found = sorted(entry.name for entry in directory.iterdir() if entry.suffix in (".yaml", ".yml", ".toml"))
    except OSError:
        return ()
    return ("name a file in it: " + ", ".join(f"`{name}`" for name in found[:5]),) if found else ()
