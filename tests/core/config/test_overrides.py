"""Overrides: every form, and every one takes effect or is an error."""

from __future__ import annotations

from typing import Any

import pytest

from automodel_core.config import Vocabulary, load_run_config
from automodel_core.config.overrides import apply_overrides
from automodel_core.config.source import read_yaml_text
from automodel_core.diagnostics import Diagnostic

FILE = """\
step_scheduler: {val_every_steps: 100}
optimizer:
  _target_: torch.optim.AdamW
  lr: 1e-3
  betas: [0.9, 0.95]
dataset:
  _target_: tiny.Dataset
  mapping: {question: q}
peft: null
"""


def applied(vocabulary: Vocabulary, *words: str) -> tuple[dict[str, Any], tuple[Diagnostic, ...]]:
    """Return the data after the overrides, and the problems."""
    done = apply_overrides(read_yaml_text(FILE, "cfg.yaml"), words, vocabulary)
    return done.document.to_data(), done.problems


@pytest.mark.parametrize(
    ("words", "path", "value"),
    [
        (("--optimizer.lr", "1E-5"), "optimizer.lr", 1e-5),
        (("--optimizer.lr=2e-5",), "optimizer.lr", 2e-5),
        (("optimizer.lr=3e-5",), "optimizer.lr", 3e-5),
        (("--optimizer.weight_decay", "-0.5"), "optimizer.weight_decay", -0.5),
        (("--optimizer.weight_decay", "-.inf"), "optimizer.weight_decay", float("-inf")),
        (("--optimizer.name", "-"), "optimizer.name", "-"),
        (("--optimizer.name=--x",), "optimizer.name", "--x"),
        (("optimizer.betas=[0.8,0.99]",), "optimizer.betas", [0.8, 0.99]),
        (("--optimizer.betas", "[0.8, 1]"), "optimizer.betas", [0.8, 1]),
        (("optimizer.betas[0]=0.8",), "optimizer.betas", [0.8, 0.95]),
        (("optimizer.betas.1=0.8",), "optimizer.betas", [0.9, 0.8]),
        (("optimizer.betas[-1]=0.8",), "optimizer.betas", [0.9, 0.8]),
        (("+optimizer.betas[2]=0.8",), "optimizer.betas", [0.9, 0.95, 0.8]),
        (("~optimizer.betas[0]",), "optimizer.betas", [0.95]),
        (("dataset.mapping={question: x, answer: 'y z'}",), "dataset.mapping", {"question": "x", "answer": "y z"}),
        (("dataset.mapping.question=x",), "dataset.mapping", {"question": "x"}),
        (("+dataset.mapping.context=c",), "dataset.mapping", {"question": "q", "context": "c"}),
        (("dataset.name='1e-5'",), "dataset.name", "1e-5"),
        (('dataset.name="null"',), "dataset.name", "null"),
        (("dataset.name=a: b # c",), "dataset.name", "a: b # c"),
        (("dataset.pattern=*_proj",), "dataset.pattern", "*_proj"),
        (("dataset.name=a=b",), "dataset.name", "a=b"),
        (("dataset.name= \xa0 ",), "dataset.name", "\xa0"),
        (("--dataset.path", "~/x"), "dataset.path", "~/x"),
        (("optimizer.lr=",), "optimizer.lr", None),
        (("optimizer.lr=null",), "optimizer.lr", None),
        (("peft.rank=4",), "peft", {"rank": 4}),
        (("peft={rank: 4}",), "peft", {"rank": 4}),
        (("step_scheduler.max_steps=3",), "step_scheduler.max_steps", 3),
        (("recipe=finetune",), "recipe", "finetune"),
        (("x-mine.alpha=1",), "x-mine", {"alpha": 1}),
    ],
)
def test_a_form_sets_the_value(vocabulary: Vocabulary, words: tuple[str, ...], path: str, value: object) -> None:
    done = apply_overrides(read_yaml_text(FILE), words, vocabulary)
    assert done.problems == ()
    assert done.document.at(path).to_data() == value  # type: ignore[union-attr]
    assert type(done.document.at(path).to_data()) is type(value)  # type: ignore[union-attr]
    assert len(done.applied) == 1


@pytest.mark.parametrize("word", ["~optimizer.lr", "~optimizer", "~peft"])
def test_a_tilde_deletes(vocabulary: Vocabulary, word: str) -> None:
    done = apply_overrides(read_yaml_text(FILE), (word,), vocabulary)
    assert done.problems == ()
    assert done.document.at(word[1:]) is None


def test_an_override_has_the_words_as_its_place(vocabulary: Vocabulary) -> None:
    done = apply_overrides(read_yaml_text(FILE), ("--optimizer.lr", "5"), vocabulary)
    entry = done.document.entry_at("optimizer.lr")
    assert entry is not None
    span = entry.node.span
    assert (span.source, span.text, span.column, span.end_column) == ("<command line>", "--optimizer.lr 5", 16, 17)
    assert entry.key_span.text[entry.key_span.column - 1 : entry.key_span.end_column - 1] == "optimizer.lr"


def test_values_inside_a_list_have_their_own_place(vocabulary: Vocabulary) -> None:
    done = apply_overrides(read_yaml_text(FILE), ("optimizer.betas=[0.9, oops]",), vocabulary)
    span = done.document.at("optimizer.betas[1]").span  # type: ignore[union-attr]
    assert span.text[span.column - 1 : span.end_column - 1] == "oops"


@pytest.mark.parametrize(
    ("words", "code", "suggestion"),
    [
        (("--optimzer.lr", "1"), "AM111", "`optimizer.lr`"),
        (("optimzer.lr=1",), "AM111", "`optimizer.lr`"),
        (("--step_scheduler.max_step", "3"), "AM111", "`step_scheduler.max_steps`"),
        (("--step-scheduler.max-steps", "3"), "AM111", "`step_scheduler.max_steps`"),
        (("--max-step", "3"), "AM111", "`--step_scheduler.max_steps`"),
        (("--max_steps=3",), "AM111", "`--step_scheduler.max_steps`"),
        (("--nproc-per-nod", "2"), "AM111", "`--nproc-per-node`"),
        (("-lr", "1E-5"), "AM110", "`--optimizer.lr`"),
        (("-o", "x"), "AM110", "--section.key"),
        (("--",), "AM110", "--section.key"),
        (("cfg2.yaml",), "AM110", "section.key=VALUE"),
        (("--compile.enabled",), "AM110", "`--compile.enabled VALUE`"),
        (("--compile.enabled", "--optimizer.lr", "1"), "AM110", "`--compile.enabled VALUE`"),
        (("a..b=1",), "AM110", ""),
        (("~optimizer.lr=3",), "AM110", ""),
        (("optimizer" + ".a" * 5000 + "=1",), "AM110", ""),
        (("~optimizer.momentum",), "AM112", ""),
        (("~optimizer.bets",), "AM112", "`optimizer.betas`"),
        (("+optimizer.lr=3",), "AM112", "`optimizer.lr=3`"),
        (("optimizer.betas[2]=3",), "AM112", "`+`"),
        (("+optimizer.betas[7]=3",), "AM112", "0 to 1"),
        (("dataset.mapping.questin=x",), "AM112", "`dataset.mapping.question`"),
        (("optimizer.lr.x=3",), "AM112", ""),
        (("+optimizer.lr.x=3",), "AM112", ""),
        (("optimizer.lr=1", "--optimizer.lr", "2"), "AM113", "keep one"),
        (("optimizer.lr=1", "~optimizer"), "AM113", "keep one"),
        (("optimizer.betas=[1, 2",), "AM114", "quotes"),
        (("dataset.mapping={a:b}",), "AM114", "`a: b`"),
        (("optimizer.name='x",), "AM114", ""),
        (("optimizer.name=[" + "[" * 200,), "AM105", ""),
        (("optimizer.lr=" + "9" * 2000,), "AM105", ""),
        (("optimizer.name=a\0b",), "AM101", ""),
    ],
)
def test_what_is_not_applied_is_an_error_with_advice(
    vocabulary: Vocabulary, words: tuple[str, ...], code: str, suggestion: str
) -> None:
    _, problems = applied(vocabulary, *words)
    assert [p.code for p in problems][:1] == [code]
    assert problems[0].span is not None
    assert problems[0].span.source == "<command line>"
    assert suggestion in " ".join(problems[0].helps)


def test_all_problems_are_reported_and_the_good_ones_still_apply(vocabulary: Vocabulary) -> None:
    data, problems = applied(vocabulary, "--optimzer.lr", "1", "optimizer.lr=7", "stray", "~nothing")
    assert data["optimizer"]["lr"] == 7
    assert [p.code for p in problems] == ["AM110", "AM111", "AM111"]


def test_a_list_item_may_be_refined_after_its_list(vocabulary: Vocabulary) -> None:
    data, problems = applied(vocabulary, "optimizer.betas=[1,2]", "optimizer.betas[0]=5")
    assert problems == ()
    assert data["optimizer"]["betas"] == [5, 2]


def test_an_override_in_the_other_spelling_replaces_the_key_of_the_file(vocabulary: Vocabulary) -> None:
    for word in ("step_scheduler.val_every_steps=7", "step_scheduler.val_check_interval=7"):
        config = load_run_config(read_yaml_text(FILE).to_data(), (word,), vocabulary, required=())
        assert config.step_scheduler.val_check_interval == 7


def test_a_mapping_of_overrides_is_the_same_as_words(vocabulary: Vocabulary) -> None:
    words = apply_overrides(read_yaml_text(FILE), ("optimizer.lr=1e-5", "+dataset.mapping.a=b"), vocabulary)
    mapping = apply_overrides(read_yaml_text(FILE), {"optimizer.lr": 1e-5, "+dataset.mapping.a": "b"}, vocabulary)
    assert words.document.to_data() == mapping.document.to_data()


def test_bad_names_and_values_in_a_mapping_of_overrides_are_problems(vocabulary: Vocabulary) -> None:
    done = apply_overrides(read_yaml_text(FILE), {"a..b": 1, "optimizer.lr": object(), "optimzer.lr": 1}, vocabulary)
    assert [p.code for p in done.problems] == ["AM110", "AM106", "AM111"]


def test_known_launcher_words_never_reach_the_config(vocabulary: Vocabulary) -> None:
    data, problems = applied(vocabulary, "--nproc-per-node", "2")
    assert "nproc-per-node" not in data
    assert [p.code for p in problems] == ["AM111"]
