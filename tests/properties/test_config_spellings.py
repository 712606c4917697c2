"""Properties of the ways to say one thing: in the file, by an override, in another spelling; and of provenance."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automodel_core.config import Vocabulary, dump_value, dump_yaml, load_run_config
from automodel_core.config.overrides import apply_overrides
from automodel_core.config.paths import format_path, parse_path
from automodel_core.config.provenance import origins
from automodel_core.config.source import read_yaml_text
from automodel_core.errors import InputError
from automodel_core.plugins import Catalog
from automodel_core.specs import KeyAlias

names = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(["a b", "1", "[", ""])
trees = st.dictionaries(
    names,
    st.recursive(
        leaves,
        lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(names, inner, min_size=1, max_size=3),
        max_leaves=8,
    ),
    min_size=1,
    max_size=4,
)
FORMS = ("--{}={}", "{}={}", "--{} {}")
STARTERS = sorted(Path(__file__).parents[2].glob("packages/*/src/*/starters/*.yaml"))


@functools.cache
def installed() -> Vocabulary:
    return Catalog.discover().vocabulary()


def paths(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value below the root, collections included."""
    items = data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from paths(value, (*path, key))


def with_value(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return ``data`` in which the value at ``path`` is another."""
    if not path:
        return value
    if isinstance(data, list):
        return [with_value(item, path[1:], value) if at == path[0] else item for at, item in enumerate(data)]
    return {key: with_value(item, path[1:], value) if key == path[0] else item for key, item in data.items()}


@settings(max_examples=120, deadline=None)
@given(trees, leaves, st.data())
def test_an_override_at_any_depth_is_the_same_value_in_the_file(tree: dict[str, Any], value: Any, data: Any) -> None:
    config = {"dataset": tree}
    path = data.draw(st.sampled_from([path for path in paths(config) if len(path) > 1]))
    form = data.draw(st.sampled_from(FORMS))
    dotted = data.draw(st.sampled_from([format_path(path), ".".join(str(step) for step in path)]))
    text = dump_value(value)
    words = form.format(dotted, text).split(" ", 1) if form.startswith("--{} ") else [form.format(dotted, text)]
    if len(words) == 2 and text.startswith("-"):
        words = [f"--{dotted}={text}"]

    done = apply_overrides(read_yaml_text(dump_yaml(config)), words, installed())

    assert done.problems == ()
    assert done.document.to_data() == with_value(config, path, value)


@settings(max_examples=100, deadline=None)
@given(trees, leaves)
def test_an_added_key_is_the_same_key_in_the_file_and_a_deleted_one_is_gone(tree: dict[str, Any], value: Any) -> None:
    document = read_yaml_text(dump_yaml({"dataset": {"inner": tree}}))
    added = apply_overrides(document, [f"+dataset.inner.x_added={dump_value(value)}"], installed())
    assert added.problems == ()
    assert added.document.to_data() == {"dataset": {"inner": {**tree, "x_added": value}}}
    removed = apply_overrides(added.document, ["~dataset.inner.x_added"], installed())
    assert removed.document.to_data() == document.to_data()


VALUES = (3, 0.25, True, False, None, "step", "cosine", "all-linear", "a.B", ["a", "b"])
MAPPINGS = ({"enabled": False}, {"embeddings": True}, {"name_or_path": "a/b"})


def in_file(path: str, value: Any) -> dict[str, Any]:
    """Return a config with a value at a dotted path, and the target that each component section needs."""
    *outer, last = parse_path(path)
    data: dict[str, Any] = {last: value}
    for step in reversed(outer):
        data = {str(step): data}
    needed = {str(parse_path(name)[0]) for alias in installed().key_aliases for name in (alias.old, alias.new)}
    for section, spec in installed().sections.items():
        if spec.component and section in needed:
            data[section] = {"_target_": "AdamW", **data.get(section, {})}
    return data


def outcome(data: dict[str, Any], *words: str) -> Any:
    """Return the resolved config, or the codes of what is wrong with it."""
    try:
        return load_run_config(data, words, installed(), required=()).resolved()
    except InputError as error:
        return sorted(found.code for found in error.diagnostics)


@pytest.mark.parametrize("alias", installed().key_aliases, ids=lambda alias: alias.old)
def test_every_alias_says_the_same_as_its_key_in_the_file_and_on_the_command_line(alias: KeyAlias) -> None:
    of_a_section = alias.new in installed().sections or alias.new == "logging.wandb"
    pairs = alias.values or tuple((value, value) for value in (MAPPINGS if of_a_section else VALUES))
    nothing = in_file("x-nothing", 0)
    accepted = 0
    for theirs, ours in pairs:
        if ours is None and alias.values:
            continue  # the default, which is no value of our key
        wanted = outcome(in_file(alias.new, ours))
        assert outcome(in_file(alias.old, theirs)) == wanted
        if not of_a_section:
            same = outcome(nothing, f"{alias.new}={dump_value(ours)}")
            assert outcome(nothing, f"--{alias.old}={dump_value(theirs)}") == same
        accepted += isinstance(wanted, dict)
    assert accepted


@pytest.mark.parametrize("starter", STARTERS, ids=lambda path: path.stem)
def test_every_value_of_a_resolved_config_has_an_origin(starter: Path, tmp_path: Path) -> None:
    text = re.sub(r"\$\{asset:([^}]*)\}", r"/assets/\1", starter.read_text(encoding="utf-8"))
    path = tmp_path / "cfg.yaml"
    path.write_text(text, encoding="utf-8")
    words = ["--rng.seed", "7", "checkpoint.directory=elsewhere"]
    config = load_run_config(path, words, installed(), required=())

    found = {origin.key: origin for origin in origins(config)}

    resolved = config.resolved()
    for steps in paths(resolved):
        value = functools.reduce(lambda inner, step: inner[step], steps, resolved)
        if not isinstance(value, dict | list) or not value:
            assert any(format_path(steps[:length]) in found for length in range(1, len(steps) + 1)), steps
    assert (found["rng.seed"].value, str(found["rng.seed"].place)) == (7, "<command line>:1:12")
    assert str(found["checkpoint.directory"].place) == "<command line>:1:22"
    for origin in found.values():
        assert (origin.place is None) == (config.document.at(origin.key) is None)
        assert origin.place is None or origin.place.source in (str(path), "<command line>")
