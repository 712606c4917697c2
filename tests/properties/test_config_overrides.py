"""Properties of overrides and of structuring."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from automodel_core.config import core_vocabulary, dump_value, dump_yaml, load_run_config
from automodel_core.config.nodes import node_at
from automodel_core.config.overrides import apply_overrides
from automodel_core.config.source import read_yaml_text
from automodel_core.diagnostics import CODES
from automodel_core.errors import InputError

VOCABULARY = core_vocabulary()
names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12) | st.sampled_from(
    ["1e-5", "null", "[", "{a: b}", "'x'", " x ", "", "a=b", "-1", "--x", "~"]
)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3))


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(names, values, min_size=1, max_size=5), st.sampled_from(["--{}={}", "{}={}", "words"]))
def test_an_override_is_the_same_key_in_the_file(arguments: dict[str, Any], form: str) -> None:
    words: list[str] = []
    for name, value in arguments.items():
        text = dump_value(value)
        if form == "words" and not text.startswith("-"):
            words += [f"--dataset.{name}", text]
        else:
            words.append((form if form != "words" else "--{}={}").format(f"dataset.{name}", text))
    done = apply_overrides(read_yaml_text("dataset: {}"), words, VOCABULARY)
    file = read_yaml_text(dump_yaml({"dataset": arguments}))
    assert done.problems == ()
    assert len(done.applied) == len(arguments)
    assert done.document.to_data() == file.to_data()


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(names, values, min_size=1, max_size=5))
def test_every_accepted_override_is_in_the_config_and_a_deletion_is_not(arguments: dict[str, Any]) -> None:
    added = apply_overrides(
        read_yaml_text("dataset: {}"), {f"dataset.{name}": value for name, value in arguments.items()}, VOCABULARY
    )
    for override in added.applied:
        node = node_at(added.document, override.path)
        assert node is not None
        assert node.to_data() == arguments[str(override.path[-1])]
    removed = apply_overrides(added.document, [f"~dataset.{name}" for name in arguments], VOCABULARY)
    assert removed.document.to_data() == {"dataset": {}}


word = st.text(max_size=15) | st.sampled_from(
    [
        "--",
        "-x",
        "--a",
        "--optimizer.lr",
        "optimizer.lr=1",
        "+x-a.b=[1",
        "~rng",
        "rng.seed={a:b}",
        "peft[0]=1",
        "1",
        "=",
        "+=",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(word, max_size=6))
def test_any_words_are_overrides_or_input_errors(words: list[str]) -> None:
    codes: set[str] = set()
    applied = 0
    try:
        config = load_run_config({"optimizer": {"_target_": "AdamW"}}, words, VOCABULARY, required=(), environment={})
        applied = len(config.overrides)
    except InputError as error:
        codes = {d.code for d in error.diagnostics}
    assert codes <= set(CODES)
    assert applied <= len(words)
    assert bool(words) == bool(codes or applied)


sections = st.sampled_from([*VOCABULARY.sections, "recipe", "x-a", "nonsense", "seed"])
fields = st.sampled_from(
    [
        "max_steps",
        "seed",
        "enabled",
        "rank",
        "target_modules",
        "_target_",
        "lr",
        "dp_size",
        "path",
        "dim",
        "${rng.seed}",
    ]
)
anything = st.recursive(
    leaves | st.sampled_from(["${rng.seed}", "${env:X}", "${env:X,1}", "torch.optim.AdamW", "os.system", "none"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(sections, anything, max_size=5))
def test_any_mapping_is_a_config_or_an_input_error_and_a_config_round_trips(data: dict[str, Any]) -> None:
    codes: set[str] = set()
    try:
        config = load_run_config(data, (), VOCABULARY, required=(), environment={"X": "7"})
    except InputError as error:
        codes = {d.code for d in error.diagnostics}
    assert codes <= set(CODES)
    if codes:
        return
    again = load_run_config(read_yaml_text(config.to_yaml() or "{}").to_data(), (), VOCABULARY, required=())
    assert again.resolved() == config.resolved()
