"""Loading a config: source, aliases, overrides, references, sections. Every problem of every stage at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from automodel_core.config.aliases import canonical_keys
from automodel_core.config.assemble import assemble
from automodel_core.config.layers import read_layers
from automodel_core.config.overrides import Overrides, apply_overrides
from automodel_core.config.references import resolve_references
from automodel_core.config.retired import without_retired
from automodel_core.config.rules import RULES, Rule, Situation, apply_rules
from automodel_core.config.run_config import RunConfig, default_section
from automodel_core.config.swapped_targets import swapped_targets
from automodel_core.config.vocabulary import Vocabulary, core_vocabulary
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError

REQUIRED_SECTIONS = ("model", "dataset", "optimizer")


def load_run_config(
    source: str | os.PathLike[str] | Mapping[str, Any],
    overrides: Overrides = (),
    vocabulary: Vocabulary | None = None,
    *,
    required: Collection[str] | Callable[[Mapping[str, Any]], Collection[str]] = REQUIRED_SECTIONS,
    environment: Mapping[str, str] | None = None,
    world_size: int | None = None,
    rules: Iterable[Rule] = RULES,
) -> RunConfig:
    """Read a config and structure it; nothing that it names is imported.

    Args:
        source: the path of a YAML or TOML file, or a mapping.
        overrides: raw words of a command line, or a mapping from dotted keys to values.
        vocabulary: what installed plugins declare; the core's own without it.
        required: the sections that must be there, or what tells them from the resolved document, unchecked plain data.
        environment: what ``${env:NAME}`` reads; the environment of the process without it.
        world_size: how many ranks the run has, where that is known.
        rules: the cross-checks.

    Raises:
        InputError: with everything that is wrong; with the first thing when the source cannot be read as such.
    """
    vocabulary = core_vocabulary() if vocabulary is None else vocabulary
    problems: list[Diagnostic] = []
    written = canonical_keys(read_layers(source), vocabulary.key_aliases)
    overridden = apply_overrides(written.document, overrides, vocabulary)
    respelled = canonical_keys(overridden.document, () if written.problems else vocabulary.key_aliases)
    current = without_retired(respelled.document, vocabulary.retired_keys)
    resolved = resolve_references(current.document, os.environ if environment is None else environment)
    needed = required(resolved.document.to_data()) if callable(required) else required
    assembled = assemble(resolved.document, vocabulary, needed)
    for stage in (written, overridden, respelled, current, resolved, assembled):
        problems.extend(stage.problems)
    config = RunConfig(
        document=resolved.document,
        vocabulary=vocabulary,
        sections=_with_defaults(assembled.sections, vocabulary),
        recipe=assembled.recipe,
        extras=assembled.extras,
        source=None if isinstance(source, Mapping) else Path(source),
        overrides=overridden.applied,
        before=written.document,
        renamed=(*written.renamed, *respelled.renamed, *current.retired),
    )
    swapped = swapped_targets(config)
    found = [
        finding
        for finding in apply_rules(rules, Situation(config, world_size), assembled.broken)
        if not any(finding.span in swap.left_over for swap in swapped)
    ]
    problems.extend(swap.problem for swap in swapped)
    problems.extend(finding for finding in found if finding.severity == "error")
    if problems:
        raise InputError(without_echoes(problems))
    return attrs.evolve(config, warnings=tuple(finding for finding in found if finding.severity == "warning"))


def _with_defaults(given: Mapping[str, Any], vocabulary: Vocabulary) -> dict[str, Any]:
    """Return every section of the vocabulary, in its order."""
    sections: dict[str, Any] = {}
    for key, spec in vocabulary.sections.items():
        if key in given:
            sections[key] = given[key]
        else:
            sections[key] = default_section(spec.schema) if spec.schema and not spec.component else None
    return sections


def _file_order(problem: Diagnostic) -> tuple[bool, int, int]:
    """Order problems of a file by their place, before those of other sources, which keep their order."""
    span = problem.span
    if span is None or span.source.startswith("<"):
        return True, 0, 0
    return False, span.line, span.column


def without_echoes(problems: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the problems in the order of the file, one for each place.

    What failed at one stage would fail again, less clearly, at the next. A section that is missing has no place of
    its own, so that each of those is kept.
    """
    kept: dict[object, Diagnostic] = {}
    for problem in problems:
        place = problem.message if problem.code == "AM144" else problem.span or problem.message
        kept.setdefault(place, problem)
    return sorted(kept.values(), key=_file_order)
