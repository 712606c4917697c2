"""Other spellings of keys: a declared table from old dotted paths to ours, applied to the nodes of a config.

Only names whose meaning is the same stand in the table. A key that others use and that has no counterpart of the
same meaning has a line of advice instead.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import attrs

from automodel_core.config.nodes import MappingNode, Node, ScalarNode, removed, replaced
from automodel_core.config.paths import Path, parse_path
from automodel_core.diagnostics import Diagnostic, Span
from automodel_core.specs import KeyAlias

CORE_KEY_ALIASES = (
    KeyAlias("step_scheduler.val_every_steps", "step_scheduler.val_check_interval"),
    KeyAlias("step_scheduler.ckpt_every_steps", "step_scheduler.checkpoint_interval"),
    KeyAlias("step_scheduler.local_batch_size", "dataloader.batch_size"),
    KeyAlias("model.pretrained_model_name_or_path", "model.name_or_path"),
    KeyAlias("tokenizer.pretrained_model_name_or_path", "tokenizer.name_or_path"),
    KeyAlias("checkpoint.checkpoint_dir", "checkpoint.directory"),
    KeyAlias("checkpoint.restore_from", "restore_from.path"),
    KeyAlias("peft.dim", "peft.rank"),
    KeyAlias("peft.r", "peft.rank"),
    KeyAlias("peft.lora_alpha", "peft.alpha"),
    KeyAlias("peft.lora_dropout", "peft.dropout"),
    KeyAlias("seed", "rng.seed"),
)

ADVICE = {
    "packed_sequence.packed_sequence_size": "remove it: `packed_sequence.enabled: true` is the switch",
    "peft.match_all_linear": "write `peft.target_modules: all-linear`",
    "checkpoint.save_consolidated": "remove it: checkpoints are always consolidated safetensors",
    "checkpoint.model_save_format": "remove it: checkpoints are always consolidated safetensors",
}


@attrs.frozen
class RenamedKey:
    """A key that was written in another spelling."""

    old: str
    new: str
    span: Span
    note: str = ""


@attrs.frozen
class CanonicalKeys:
    """A config in our spelling, what was renamed, and the conflicts."""

    document: MappingNode
    renamed: tuple[RenamedKey, ...]
    problems: tuple[Diagnostic, ...]


def canonical_keys(document: MappingNode, aliases: Iterable[KeyAlias]) -> CanonicalKeys:
    """Rename every key that the table knows by another spelling; both spellings with different values conflict."""
    renamed: list[RenamedKey] = []
    problems: list[Diagnostic] = []
    for alias in aliases:
        old, new = parse_path(alias.old), parse_path(alias.new)
        entry = document.entry_at(old)
        if entry is None:
            continue
        present = document.entry_at(new)
        if present is not None and _clash(present.node, entry.node):
            problems.append(_conflict(alias, entry.key_span, present.key_span))
            continue
        root: Node = removed(document, old)
        if present is None or _is_null(present.node):
            # Where the section is no mapping, that is what is wrong, and it is said when the section is read.
            with contextlib.suppress(LookupError):
                root = replaced(root, new, entry.node, entry.key_span)
        assert isinstance(root, MappingNode)
        document = root
        renamed.append(RenamedKey(alias.old, alias.new, entry.key_span, alias.note))
    return CanonicalKeys(document, tuple(renamed), tuple(problems))


def canonical_path(path: Path, aliases: Iterable[KeyAlias]) -> tuple[Path, KeyAlias | None]:
    """Return ``path`` in our spelling, and the alias that it used."""
    names = tuple(str(step) for step in path)
    for alias in aliases:
        old = parse_path(alias.old)
        if names[: len(old)] == old:
            return (*parse_path(alias.new), *path[len(old) :]), alias
    return path, None


def old_names(path: str, aliases: Iterable[KeyAlias]) -> tuple[str, ...]:
    """Return the other last names of the key at ``path``, of aliases that stay in its section."""
    names = []
    for alias in aliases:
        if alias.new == path and alias.old.rpartition(".")[0] == path.rpartition(".")[0]:
            names.append(alias.old.rpartition(".")[2])
    return tuple(names)


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value is None


def _clash(one: Node, other: Node) -> bool:
    return not _is_null(one) and not _is_null(other) and not same_data(one.to_data(), other.to_data())


def same_data(one: object, other: object) -> bool:
    """Return whether two values mean the same in a config: ``1`` and ``1.0`` do, ``1`` and ``true`` do not."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _conflict(alias: KeyAlias, old: Span, new: Span) -> Diagnostic:
    return Diagnostic(
        "AM130",
        f"`{alias.old}` is another spelling of `{alias.new}`, and the two have different values",
        old,
        f"`{alias.new}` is written at {new}",
        (f"keep `{alias.new}`",),
    )
