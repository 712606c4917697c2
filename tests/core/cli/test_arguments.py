"""Splitting a command line: every word is an option of ours, an override, or an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automodel_core.cli.arguments import RunArguments, split_run_arguments
from automodel_core.cli.command_line import CommandLine
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError


def split(*words: str) -> RunArguments:
    return split_run_arguments(CommandLine(words), 0)


def refusals(*words: str) -> list[Diagnostic]:
    with pytest.raises(InputError) as caught:
        split(*words)
    return list(caught.value.diagnostics)


keys = st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True), min_size=2, max_size=3).map(".".join)
values = st.one_of(
    st.from_regex(r"[a-zA-Z0-9_./\[\],: ]{1,8}", fullmatch=True),
    st.floats(allow_nan=False).map(str),
    st.integers().map(str),
)
override = st.one_of(
    st.tuples(keys, values).map(lambda kv: (f"--{kv[0]}", kv[1])),
    st.tuples(keys, values).map(lambda kv: (f"--{kv[0]}={kv[1]}",)),
    st.tuples(keys, values).map(lambda kv: (f"{kv[0]}={kv[1]}",)),
    st.tuples(keys, values).map(lambda kv: (f"+{kv[0]}={kv[1]}",)),
    keys.map(lambda key: (f"~{key}",)),
)
option = st.sampled_from([("--plugin", "hooks.py"), ("--plugin=hooks.py",)])
config = st.sampled_from(
    [("-c", "a.yaml"), ("-ca.yaml",), ("-c=a.yaml",), ("--config", "a.yaml"), ("--config=a.yaml",)]
)


@given(st.lists(st.one_of(override, option), max_size=6), config, st.data())
def test_overrides_come_through_unchanged_whatever_stands_between_them(
    parts: list[tuple[str, ...]], given_config: tuple[str, ...], data: st.DataObject
) -> None:
    position = data.draw(st.integers(0, len(parts)))
    words = [word for part in (*parts[:position], given_config, *parts[position:]) for word in part]
    arguments = split(*words)
    ours = [part for part in parts if part[0].startswith("--plugin")]
    assert arguments.config == "a.yaml"
    assert arguments.plugin_files == ("hooks.py",) * len(ours)
    assert arguments.overrides == tuple(word for part in parts if part not in ours for word in part)


def test_a_value_may_be_a_negative_number() -> None:
    assert split("--a.b", "-1e-3", "--a.c", "-.5").overrides == ("--a.b", "-1e-3", "--a.c", "-.5")


def test_a_value_that_starts_with_a_dash_is_written_with_an_equals_sign() -> None:
    (problem,) = refusals("--a.b", "--c.d", "1")
    assert problem.code == "AM705"
    assert "`--a.b=VALUE`" in problem.helps[0]
    assert split("--a.b=--c").overrides == ("--a.b=--c",)


def test_the_place_of_a_wrong_word_is_shown() -> None:
    (problem,) = refusals("-c", "a b.yaml", "stray")
    assert problem.span is not None
    assert problem.span.text == "automodel -c 'a b.yaml' stray"
    assert problem.span.text[problem.span.column - 1 : problem.span.end_column - 1] == "stray"


def test_a_stray_file_is_told_how_a_config_is_given() -> None:
    (problem,) = refusals("cfg.yaml")
    assert problem.code == "AM706"
    assert "`-c cfg.yaml`" in problem.helps[0]


def test_a_misspelled_option_is_no_override() -> None:
    """Keys of a config have no dashes, so this cannot be one."""
    (problem,) = refusals("--plugin-file", "hooks.py")[:1]
    assert problem.code == "AM703"
    (problem,) = refusals("-x")
    assert problem.code == "AM703"


def test_every_problem_is_told_at_once() -> None:
    assert [p.code for p in refusals("-c", "a", "-c", "b", "-x", "stray", "--plugin")] == [
        "AM703",
        "AM706",
        "AM704",
        "AM707",
    ]


@pytest.mark.parametrize(
    "words", [["--nproc-per-node", "2"], ["--nproc_per_node=2"], ["--nnodes", "4"], ["--standalone"]]
)
def test_an_option_of_the_launcher_is_never_an_override(words: list[str]) -> None:
    (problem,) = refusals(*words)
    assert problem.code == "AM710"
    assert "not available yet in this version" in problem.message


def test_one_process_is_what_there_is() -> None:
    assert split("--nproc-per-node", "1", "--nnodes=1", "a.b=1").overrides == ("a.b=1",)


def test_help_wins_over_what_is_wrong() -> None:
    assert split("-x", "--help").wants_help


def test_an_option_without_its_file_is_refused() -> None:
    for words in (["-c"], ["--config="], ["-c", "--plugin=x"], ["--plugin"]):
        assert refusals(*words)[0].code == "AM704"
