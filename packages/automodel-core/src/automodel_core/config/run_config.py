"""The config of one run: typed sections and components by attribute."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from automodel_core.config.aliases import RenamedKey
from automodel_core.config.component import Component
from automodel_core.config.dump import dump_yaml
from automodel_core.config.dump_toml import dump_toml
from automodel_core.config.nodes import MappingNode
from automodel_core.config.override_tokens import Override
from automodel_core.config.references import escape_references
from automodel_core.config.schemas import load_schema
from automodel_core.config.secrets import without_secrets
from automodel_core.config.sections import ON_WHEN_PRESENT
from automodel_core.config.vocabulary import CORE_SECTIONS, Vocabulary
from automodel_core.diagnostics import Diagnostic, Span, did_you_mean

_ALWAYS_SHOWN = frozenset(spec.key for spec in CORE_SECTIONS if spec.schema) - ON_WHEN_PRESENT


@attrs.frozen(eq=False)
class RunConfig:
    """``config.step_scheduler.max_steps``, ``config.optimizer.lr``.

    A typed section that the config leaves out has its defaults, or is ``None`` when its schema has a field without
    one; a component that it leaves out is ``None``.
    """

    document: MappingNode = attrs.field(repr=False)
    """The config in our spelling, overrides and references done, every value with its place."""
    vocabulary: Vocabulary = attrs.field(repr=False)
    sections: Mapping[str, Any]
    recipe: str | None = None
    extras: Mapping[str, Any] = attrs.field(factory=dict)
    """What stands under keys without a meaning of ours, ``x-…``, ``_…`` and ``ci``, as plain data."""
    source: Path | None = None
    overrides: tuple[Override, ...] = attrs.field(default=(), repr=False)
    before: MappingNode | None = attrs.field(default=None, repr=False)
    """The config in our spelling before the overrides."""
    renamed: tuple[RenamedKey, ...] = attrs.field(default=(), repr=False)
    warnings: tuple[Diagnostic, ...] = attrs.field(default=(), repr=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self.sections:
            return self.sections[name]
        helps = did_you_mean(name, self.vocabulary.sections)
        raise AttributeError(f"a config has no section `{name}`" + "".join(f"; {line}" for line in helps))

    def given(self, section: str) -> bool:
        """Return whether the config has the section, with a value other than null."""
        node = self.document.at((section,))
        return node is not None and node.to_data() is not None

    def span(self, path: str) -> Span | None:
        """Return where the value at a dotted path was written, or ``None`` when it was not."""
        node = self.document.at(path)
        return None if node is None else node.span

    def resolved(self) -> dict[str, Any]:
        """Return the whole config as plain data in our spelling, with the defaults of typed sections."""
        data: dict[str, Any] = {} if self.recipe is None else {"recipe": self.recipe}
        for key, value in self.sections.items():
            if isinstance(value, Component):
                data[key] = value.to_data()
            elif value is not None and (self.given(key) or key in _ALWAYS_SHOWN):
                data[key] = attrs.asdict(value)
        return data

    def public(self) -> dict[str, Any]:
        """Return :meth:`resolved` with passwords, keys and tokens of access hidden, for others to see."""
        data: dict[str, Any] = without_secrets(self.resolved())
        return data

    def public_toml(self) -> str:
        """Return :meth:`public` as TOML, where the text "none" stands for a null that is not a field's default.

        Raises:
            NotTomlError: for what TOML has no form for, such as a null in a list.
        """
        data = self.public()
        for key, value in self.sections.items():
            if key in data and attrs.has(type(value)) and not isinstance(value, Component):
                _say_none(data[key], value)
        return dump_toml({key: escape_references(value) for key, value in data.items()})

    def to_yaml(self) -> str:
        """Return :meth:`resolved` as YAML that loads to the same config."""
        return dump_yaml(escape_references(self.resolved()))


def _say_none(data: dict[str, Any], section: Any) -> None:
    """Write the word for null where leaving the key out would mean another default."""
    for field in attrs.fields(type(section)):
        value = getattr(section, field.name)
        if attrs.has(type(value)):
            _say_none(data[field.name], value)
        elif value is None and field.default is not None:
            data[field.name] = "none"


def default_section(reference: str) -> Any:
    """Return the typed section with its defaults, or ``None`` when a field has none."""
    schema = load_schema(reference)
    if any(field.default is attrs.NOTHING for field in attrs.fields(schema)):
        return None
    return schema()
