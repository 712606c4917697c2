"""Who answers a hook of a run: the layer alone decides."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automodel_core.errors import PluginError, UnansweredHookError
from automodel_core.hookspecs import hookimpl
from automodel_core.plugins import CallOrderEntry, Layer, RunHost, run_host
from automodel_core.plugins.run_plugin import RunPlugin
from automodel_core.specs import NOTHING


class Answers:
    """Answers ``build_loss_fn`` with what it was given."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    @hookimpl
    def build_loss_fn(self) -> Any:
        return self.answer


class Wraps:
    """Puts its name around the answer to ``build_loss_fn``."""

    def __init__(self, name: str) -> None:
        self.name = name

    @hookimpl(wrapper=True)
    def build_loss_fn(self) -> Generator[None, Any, Any]:
        return f"{self.name}({(yield)})"


def host(*plugins: RunPlugin) -> RunHost:
    return RunHost(plugins)


def ask(run_host: RunHost) -> Any:
    return run_host.maybe("build_loss_fn", config=None)


members = st.tuples(st.sampled_from(list(Layer)), st.booleans(), st.sampled_from(["answer", "none"]))


@given(st.lists(members, max_size=8))
def test_the_answer_is_the_documented_one_for_every_set_of_plugins(drawn: list[tuple[Layer, bool, str]]) -> None:
    """Highest layer first, the later first within one; ``None`` passes; wrappers nest by the same order around it."""
    plugins = []
    for position, (layer, wraps, kind) in enumerate(drawn):
        name = f"p{position}"
        plugin: Any = Wraps(name) if wraps else Answers(name if kind == "answer" else None)
        plugins.append(RunPlugin(name, plugin, layer))

    inner_to_outer = sorted(enumerate(drawn), key=lambda item: (item[1][0], item[0]))
    expected: Any = None
    for position, (_, wraps, kind) in inner_to_outer:
        if not wraps and kind == "answer":
            expected = f"p{position}"
    for position, (_, wraps, _kind) in inner_to_outer:
        if wraps:
            expected = f"p{position}({expected})"

    assert ask(host(*plugins)) == expected


def test_every_source_at_once_is_asked_in_the_documented_order(tmp_path: Path) -> None:
    """User objects, then --plugin files, project file, recipe and core."""
    file = tmp_path / "hooks.py"
    file.write_text(
        "from automodel_core.hookspecs import hookimpl\n@hookimpl\ndef build_loss_fn():\n    return 'file'\n"
    )
    made = run_host(
        Answers("recipe"),
        user_plugins=[Answers("first user"), Answers("second user")],
        plugin_files=[file],
        core_plugins=[Answers("core")],
    )

    assert ask(made) == "second user"
    assert made.call_order("build_loss_fn") == [
        CallOrderEntry("Answers#4", Layer.USER, False),
        CallOrderEntry("Answers#3", Layer.USER, False),
        CallOrderEntry("hooks.py", Layer.PLUGIN_FILE, False),
        CallOrderEntry("Answers#2", Layer.RECIPE, False),
        CallOrderEntry("Answers", Layer.CORE, False),
    ]


def test_a_wrapper_of_a_lower_layer_wraps_the_users_own_answer() -> None:
    made = run_host(Wraps("recipe"), user_plugins=[Answers("user")], core_plugins=[])
    assert ask(made) == "recipe(user)"


def test_none_means_not_mine_and_nothing_is_an_answer() -> None:
    made = run_host(Answers("recipe"), user_plugins=[Answers(NOTHING), Answers(None)], core_plugins=[])
    assert ask(made) is NOTHING


def test_a_hook_that_nobody_answers_lists_who_was_asked() -> None:
    made = run_host(Answers(None), user_plugins=[Wraps("w")], core_plugins=[])
    with pytest.raises(UnansweredHookError, match=r"nobody implements `build_model`\Z"):
        made.build("build_model", config=None)
    bare = run_host(Answers(None), user_plugins=[Answers(None)], core_plugins=[])
    with pytest.raises(UnansweredHookError, match=r"`Answers#2` \(user object\), `Answers` \(recipe\) returned None"):
        bare.build("build_loss_fn", config=None)


def test_a_losing_implementation_is_not_called() -> None:
    class Explodes:
        @hookimpl
        def build_loss_fn(self) -> Any:
            raise AssertionError("called although somebody else answered")

    assert ask(run_host(Explodes(), user_plugins=[Answers(1)], core_plugins=[])) == 1


def test_each_implementation_takes_only_the_arguments_it_names() -> None:
    class Takes:
        @hookimpl
        def build_lr_scheduler(self, total_steps: int, config: Any = "unfilled") -> Any:
            return total_steps, config

    made = run_host(Takes(), core_plugins=[])
    assert made.maybe("build_lr_scheduler", config="config", optimizer=None, total_steps=3) == (3, "config")


def test_an_exception_names_the_hook_and_the_plugin_that_raised_it() -> None:
    """Two instances of one class are told apart, and a nested call names both hooks."""

    class Fails(Answers):
        @hookimpl
        def build_loss_fn(self) -> Any:
            if self.answer is None:
                return None
            raise ValueError("no loss")

    class Calls:
        host: RunHost

        @hookimpl
        def build_model(self) -> Any:
            return self.host.build("build_loss_fn", config=None)

    recipe = Calls()
    recipe.host = run_host(recipe, user_plugins=[Fails(1), Fails(None), Wraps("w")], core_plugins=[])
    with pytest.raises(ValueError, match="no loss") as caught:
        recipe.host.build("build_model", config=None)
    assert caught.value.__notes__ == [
        "in hook `build_loss_fn` of plugin `Fails`",
        "in hook `build_model` of plugin `Calls`",
    ]


def test_asking_for_a_hook_that_does_not_exist_suggests_one() -> None:
    made = run_host(None, core_plugins=[])
    with pytest.raises(PluginError, match="did you mean `build_optimizer`"):
        made.build("build_optimiser", config=None)
    with pytest.raises(PluginError, match="`step_finished` is an event, not a builder or stage"):
        made.build("step_finished", sample=None)


def test_runs_do_not_share_plugins() -> None:
    run_host(Answers("first"), core_plugins=[])
    assert ask(run_host(None, core_plugins=[])) is None
