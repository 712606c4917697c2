"""A component: a callable named by ``_target_`` and its arguments, not yet imported, not yet called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from automodel_core.config.file_targets import file_target, placed_target
from automodel_core.config.nodes import MappingNode, Node, ScalarNode, SequenceNode
from automodel_core.config.paths import Path, format_path
from automodel_core.diagnostics import Diagnostic, Span, did_you_mean

TARGET_KEY = "_target_"
ARGS_KEY = "_args_"
PARTIAL_KEY = "_partial_"
_OWN_KEYS = (TARGET_KEY, ARGS_KEY, PARTIAL_KEY)
_CALLABLE = "_fn"
"""How the names of arguments end that are callables."""


@attrs.frozen
class Component:
    """``target`` as written, ``kwargs`` as plain values in which nested components are components again.

    Arguments read as attributes, ``config.optimizer.lr``; one that has the name of a field of this class is in
    ``kwargs`` only. ``path`` is where the component stands in the config.
    """

    target: str
    kwargs: Mapping[str, Any] = attrs.field(factory=dict)
    path: str = ""
    target_span: Span | None = attrs.field(default=None, eq=False, repr=False)
    span: Span | None = attrs.field(default=None, eq=False, repr=False)
    key_spans: Mapping[str, Span] = attrs.field(factory=dict, eq=False, repr=False)
    args: tuple[Any, ...] = ()
    """Positional arguments, from ``_args_``."""
    partial: bool = False
    """``_partial_: true``: what is built is the target with these arguments, to be called with the others."""
    called: bool = True
    """False for a callable that an argument names and that is given as it is: ``collate_fn: my.collate``."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            if name in self.kwargs:
                return self.kwargs[name]
            helps = did_you_mean(name, self.kwargs)
            raise AttributeError(f"`{self.path or self.target}` has no key `{name}`" + "".join(f"; {h}" for h in helps))
        raise AttributeError(name)

    def with_defaults(self, defaults: Mapping[str, Any]) -> Component:
        """Return this component with those of ``defaults`` that it does not say itself."""
        return attrs.evolve(self, kwargs={**defaults, **self.kwargs})

    def to_data(self) -> dict[str, Any]:
        """Return what the config says, as plain data."""
        data: dict[str, Any] = {TARGET_KEY: self.target}
        if self.args:
            data[ARGS_KEY] = [_plain(value) for value in self.args]
        if self.partial:
            data[PARTIAL_KEY] = True
        return {**data, **{key: _plain(value) for key, value in self.kwargs.items()}}

    def nested(self) -> Iterator[Component]:
        """Yield the components among the arguments, at any depth of lists and mappings, not those inside them."""
        yield from _components_in([*self.args, self.kwargs])


def _components_in(value: Any) -> Iterator[Component]:
    if isinstance(value, Component):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _components_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from _components_in(item)


def _plain(value: Any) -> Any:
    if isinstance(value, Component):
        return value.to_data() if value.called else value.target
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


@attrs.define
class ComponentReader:
    """Reads components from nodes and collects what is wrong with their shape."""

    problems: list[Diagnostic] = attrs.field(factory=list)

    def component(self, node: MappingNode, path: Path) -> Component | None:
        """Return the component of a mapping that has a ``_target_``, or ``None`` when the target is not a name."""
        target = self.target(node, path)
        kwargs: dict[str, Any] = {}
        for key, entry in node.entries.items():
            if key in _OWN_KEYS:
                continue
            if not isinstance(key, str) or key.startswith("_") or not key.isidentifier():
                self.refuse_key(str(key), entry.key_span, path)
                continue
            kwargs[key] = self.value(entry.node, (*path, key))
        if target is None:
            return None
        spans = {str(key): entry.key_span for key, entry in node.entries.items() if key not in _OWN_KEYS}
        return Component(
            placed_target(str(target.value), target.span),
            kwargs,
            format_path(path),
            target.span,
            node.span,
            spans,
            args=self.args(node, path),
            partial=self.partial(node, path),
        )

    def args(self, node: MappingNode, path: Path) -> tuple[Any, ...]:
        entry = node.entries.get(ARGS_KEY)
        if entry is None:
            return ()
        if not isinstance(entry.node, SequenceNode):
            message = f"`{format_path(path)}.{ARGS_KEY}` must be a list of positional arguments"
            helps = (f"for example `{ARGS_KEY}: [3, 4]`",)
            self.problems.append(Diagnostic("AM202", message, entry.node.span, "not a list", helps))
            return ()
        return tuple(self.value(item, (*path, ARGS_KEY, index)) for index, item in enumerate(entry.node.items))

    def partial(self, node: MappingNode, path: Path) -> bool:
        entry = node.entries.get(PARTIAL_KEY)
        if entry is None:
            return False
        if not isinstance(entry.node, ScalarNode) or not isinstance(entry.node.value, bool):
            message = f"`{format_path(path)}.{PARTIAL_KEY}` must be true or false"
            self.problems.append(
                Diagnostic("AM202", message, entry.node.span, "neither", (f"write `{PARTIAL_KEY}: true`",))
            )
            return False
        return entry.node.value

    def target(self, node: MappingNode, path: Path) -> ScalarNode | None:
        entry = node.entries[TARGET_KEY]
        name = entry.node
        if isinstance(name, ScalarNode) and isinstance(name.value, str) and name.value:
            return name
        where = format_path(path)
        message = f"`{where}._target_` must be the dotted name of a callable"
        helps = ("for example `_target_: torch.optim.AdamW`",)
        self.problems.append(Diagnostic("AM202", message, name.span, "not a name", helps))
        return None

    def refuse_key(self, key: str, span: Span, path: Path) -> None:
        message = f"`{key}` in `{format_path(path)}` cannot be a keyword argument"
        helps = did_you_mean(key, _OWN_KEYS)
        if not helps and (name := key.replace("-", "_")).isidentifier() and not name.startswith("_"):
            helps = (f"write `{name}`",)
        helps = helps or (
            f"remove it: a component has its arguments by name, and {', '.join(f'`{k}`' for k in _OWN_KEYS)}",
        )
        self.problems.append(Diagnostic("AM202", message, span, "not an argument's name", helps))

    def value(self, node: Node, path: Path) -> Any:
        """Return the plain value of an argument, in which a mapping with a ``_target_`` is a component."""
        if isinstance(node, SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.items)]
        if not isinstance(node, MappingNode):
            return self.named(node, path) or node.value
        if TARGET_KEY in node.entries:
            return self.component(node, path)
        return {key: self.value(entry.node, (*path, key)) for key, entry in node.entries.items()}

    def named(self, node: ScalarNode, path: Path) -> Component | None:
        """Return the callable that an argument such as ``collate_fn`` names by a dotted string."""
        name, value = path[-1], node.value
        if isinstance(name, str) and name.endswith(_CALLABLE) and isinstance(value, str) and names_callable(value):
            placed = placed_target(value, node.span)
            return Component(placed, {}, format_path(path), node.span, node.span, called=False)
        return None


def names_callable(text: str) -> bool:
    """Return whether ``text`` is a name of at least two identifiers with dots between them, or one in a file."""
    parts = text.split(".")
    return file_target(text) is not None or (len(parts) > 1 and all(part.isidentifier() for part in parts))
