"""Plain data to YAML that reads back as the same data, by the same table of scalars as the reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from automodel_core.config.yaml_source import needs_quotes

_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_PLAIN = (True, True)
_BREAKS = frozenset("\n\r\x85\u2028\u2029")


def dump_yaml(data: Any) -> str:
    """Return block-style YAML such that ``load_yaml(dump_yaml(data)) == data``."""
    return _emit(data, flow=False)


def dump_value(value: Any) -> str:
    """Return ``value`` on one line, as it can stand after the ``=`` of an override."""
    return _emit(value, flow=True).removesuffix("...\n").rstrip("\n")


def _emit(data: Any, *, flow: bool) -> str:
    events = [
        yaml.StreamStartEvent(),
        yaml.DocumentStartEvent(explicit=False),
        *_events(data, flow),
        yaml.DocumentEndEvent(explicit=False),
        yaml.StreamEndEvent(),
    ]
    text: str = yaml.emit(events, Dumper=_Dumper, allow_unicode=True, width=2**30)
    return text


def _events(data: Any, flow: bool) -> Iterator[yaml.Event]:
    if isinstance(data, Mapping):
        yield yaml.MappingStartEvent(anchor=None, tag=None, implicit=True, flow_style=flow or not data)
        for key, value in data.items():
            yield _scalar(key, flow)
            yield from _events(value, flow)
        yield yaml.MappingEndEvent()
    elif isinstance(data, list | tuple):
        short = all(not isinstance(item, Mapping | list | tuple) for item in data)
        yield yaml.SequenceStartEvent(anchor=None, tag=None, implicit=True, flow_style=flow or short)
        for item in data:
            yield from _events(item, flow)
        yield yaml.SequenceEndEvent()
    else:
        yield _scalar(data, flow)


def _scalar(value: Any, flow: bool) -> yaml.ScalarEvent:
    if isinstance(value, str):
        style = None
        if needs_quotes(value):
            style = "'"
        if _BREAKS & set(value):
            style = '"' if flow or value.strip() != value.rstrip("\n") or "\n" not in value else "|"
        return yaml.ScalarEvent(None, None, _PLAIN, str(value), style=style)  # libyaml takes no subclass of str
    return yaml.ScalarEvent(None, None, _PLAIN, _plain_text(value))


def _plain_text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value).replace("inf", ".inf").replace("nan", ".nan")
    raise TypeError(f"a {type(value).__name__} cannot be written as YAML")
