"""Rules that read the whole config: layouts against ranks and the model, and the arithmetic of batches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from automodel_core.config import RunConfig, Vocabulary, load_run_config
from automodel_core.config.batch import accumulation_steps, saved_accumulation_steps
from automodel_core.config.model_facts import shape_of
from automodel_core.config.rules import RULES
from automodel_core.diagnostics import CODES, Diagnostic
from automodel_core.errors import InputError
from automodel_core.layout import ModelShape

LLAMA = {"num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 8192}
MIXTRAL = {**LLAMA, "num_local_experts": 8}


def load(vocabulary: Vocabulary, world: int | None = None, **sections: Any) -> RunConfig:
    return load_run_config(sections, (), vocabulary, required=(), world_size=world)


def found(vocabulary: Vocabulary, world: int | None = None, **sections: Any) -> tuple[Diagnostic, ...]:
    try:
        return load(vocabulary, world, **sections).warnings
    except InputError as error:
        return error.diagnostics


def model(directory: Path, values: dict[str, Any]) -> dict[str, Any]:
    (directory / "config.json").write_text(json.dumps(values))
    return {"_target_": "tiny.Model", "name_or_path": str(directory)}


@pytest.mark.parametrize(
    ("code", "world", "section", "config", "key"),
    [
        ("AM150", 8, {"tp_size": 3}, None, "tp_size"),
        ("AM150", 8, {"dp_size": 3}, None, "dp_size"),
        ("AM150", 8, {"pp_size": 3, "tp_size": 1}, None, "pp_size"),
        ("AM150", 4, {"ep_size": 8}, None, "ep_size"),
        ("AM150", 8, {"dp_replicate_size": 3}, None, "dp_replicate_size"),
        ("AM150", None, {"dp_size": 4, "dp_replicate_size": 3}, None, "dp_replicate_size"),
        ("AM151", None, {"strategy": "ddp", "tp_size": 2}, None, "tp_size"),
        ("AM151", None, {"strategy": "megatron_fsdp", "pp_size": 2}, None, "pp_size"),
        ("AM152", None, {"tp_size": 16, "nvlink_domain_size": 16}, LLAMA, "tp_size"),
        ("AM153", None, {"pp_size": 33}, LLAMA, "pp_size"),
        ("AM154", None, {"cp_size": 8, "tp_size": 2, "cp_comm_type": "a2a"}, LLAMA, "cp_comm_type"),
        ("AM155", None, {"ep_size": 2}, LLAMA, "ep_size"),
        ("AM155", None, {"ep_size": 3}, MIXTRAL, "ep_size"),
        ("AM912", None, {"tp_size": 16}, None, "tp_size"),
        ("AM913", None, {"tp_size": 2, "sequence_parallel": False}, None, "sequence_parallel"),
        ("AM914", None, {"pp_size": 2}, None, "pp_size"),
        ("AM915", None, {"tp_size": 2}, MIXTRAL, "tp_size"),
    ],
)
def test_a_layout_is_checked_against_ranks_and_model(
    vocabulary: Vocabulary,
    tmp_path: Path,
    code: str,
    world: int | None,
    section: dict[str, Any],
    config: dict[str, Any] | None,
    key: str,
) -> None:
    sections = {"distributed": section} | ({} if config is None else {"model": model(tmp_path, config)})

    problems = found(vocabulary, world, **sections)

    (problem,) = [one for one in problems if one.code == code]
    assert code in CODES
    assert problem.helps or code == "AM914"
    assert problem.span is not None
    if key in section:
        assert f"distributed.{key}" in str(problem.span.text) or problem.span == _span(vocabulary, sections, key)


def _span(vocabulary: Vocabulary, sections: dict[str, Any], key: str) -> Any:
    from automodel_core.config.source import read_source

    entry = read_source(sections).at(f"distributed.{key}")
    return None if entry is None else entry.span


@pytest.mark.parametrize(
    ("world", "section", "config"),
    [
        (8, {"tp_size": 2, "pp_size": 2, "cp_size": 2}, LLAMA),
        (4, {"tp_size": 2, "ep_size": 4}, MIXTRAL),
        (None, {"tp_size": 8}, LLAMA),
        (8, {"dp_size": "auto"}, None),
        (8, {"dp_size": 8}, None),
    ],
)
def test_a_layout_that_works_is_not_refused(
    vocabulary: Vocabulary, tmp_path: Path, world: int | None, section: dict[str, Any], config: dict[str, Any] | None
) -> None:
    sections = {"distributed": section} | ({} if config is None else {"model": model(tmp_path, config)})
    assert [one for one in found(vocabulary, world, **sections) if one.severity == "error"] == []


def test_a_sequence_is_checked_against_context_parallelism(vocabulary: Vocabulary) -> None:
    data = {"_target_": "tiny.Dataset", "max_seq_length": 1000}
    (problem,) = found(vocabulary, distributed={"cp_size": 16}, dataset=data)
    assert (problem.code, problem.helps) == ("AM154", ("use 992 or 1024 tokens",))


@pytest.mark.parametrize(
    ("scheduler", "batch", "world", "steps"),
    [
        ({}, 4, 1, 1),
        ({"grad_accumulation_steps": 3}, 4, 1, 3),
        ({"global_batch_size": 32}, 4, 1, 8),
        ({"global_batch_size": 32, "grad_accumulation_steps": 8}, 4, 1, 8),
        ({"global_batch_size": 32}, 4, 8, 1),
    ],
)
def test_accumulation_reaches_the_global_batch(
    vocabulary: Vocabulary, scheduler: dict[str, Any], batch: int, world: int, steps: int
) -> None:
    config = load(vocabulary, world, step_scheduler=scheduler, dataloader={"batch_size": batch})
    assert accumulation_steps(config, world) == steps
    if world == 1:
        assert saved_accumulation_steps(config.resolved()) == steps


@pytest.mark.parametrize(
    ("scheduler", "batch", "world", "helps"),
    [
        (
            {"global_batch_size": 30},
            4,
            1,
            ("write `global_batch_size: 28` or `global_batch_size: 32`", "batch_size: 3`"),
        ),
        ({"global_batch_size": 2}, 4, 1, ("write `global_batch_size: 4`", "`dataloader.batch_size: 2`")),
        ({"global_batch_size": 31}, 4, 8, ("write `global_batch_size: 32`",)),
        ({"global_batch_size": 32, "grad_accumulation_steps": 4}, 4, 1, ("`grad_accumulation_steps: 8`",)),
    ],
)
def test_a_global_batch_that_cannot_be_made_offers_the_nearest(
    vocabulary: Vocabulary, scheduler: dict[str, Any], batch: int, world: int, helps: tuple[str, ...]
) -> None:
    (problem,) = found(vocabulary, world, step_scheduler=scheduler, dataloader={"batch_size": batch})
    assert problem.code == "AM156"
    assert problem.span is not None
    for expected, said in zip(helps, problem.helps, strict=True):
        assert expected in said


def test_mistakes_of_other_sections_do_not_hide_a_rule(vocabulary: Vocabulary) -> None:
    problems = found(vocabulary, 8, rng={"sed": 1}, distributed={"tp_size": 3}, clip_grad_norm={"max_norm": "x"})
    assert sorted(one.code for one in problems) == ["AM141", "AM142", "AM150"]


def test_a_rule_is_not_asked_about_a_section_that_is_wrong(vocabulary: Vocabulary) -> None:
    problems = found(vocabulary, 8, distributed={"tp_size": 3, "pp_sise": 2})
    assert [one.code for one in problems] == ["AM141"]


def test_every_rule_declares_its_depth_and_what_it_reads(vocabulary: Vocabulary) -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert rule.depth in ("names", "imports")
        assert set(rule.reads) <= set(vocabulary.sections)
        assert rule.check.__doc__


@pytest.mark.parametrize(
    ("values", "shape"),
    [
        (LLAMA, ModelShape(32, 32, 8, 0, 8192)),
        ({"n_layer": 12, "n_head": 12, "n_positions": 1024}, ModelShape(12, 12, 12, 0, 1024)),
        ({"num_hidden_layers": 2, "n_routed_experts": 16}, ModelShape(2, None, None, 16, None)),
        ({"experts_by_another_name": 16}, ModelShape()),
        ({"text_config": LLAMA, "vision_config": {"num_hidden_layers": 4}}, ModelShape(32, 32, 8, 0, 8192)),
        ({"num_hidden_layers": "many", "num_attention_heads": -1}, ModelShape(experts=0)),
    ],
)
def test_the_shape_of_a_model_is_read_from_its_configuration(values: dict[str, Any], shape: ModelShape) -> None:
    assert shape_of(values) == shape


def test_a_configuration_that_cannot_be_read_says_nothing(vocabulary: Vocabulary, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    sections = {"_target_": "tiny.Model", "name_or_path": str(tmp_path)}
    assert found(vocabulary, model=sections, distributed={"ep_size": 3}) == ()
