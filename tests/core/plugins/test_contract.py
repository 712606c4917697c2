"""A plugin that would silently not be called is refused when the run's host is made."""

from __future__ import annotations

from typing import Any

import pytest

from automodel_core.errors import PluginError
from automodel_core.hookspecs import hookimpl
from automodel_core.plugins import run_host


def refusal(plugin: object) -> str:
    with pytest.raises(PluginError) as caught:
        run_host(None, user_plugins=[plugin], core_plugins=[])
    return str(caught.value)


def test_a_method_with_the_name_of_a_hook_needs_the_decorator() -> None:
    class Plain:
        def build_optimizer(self, config: Any) -> Any:
            return None

    assert "`build_optimizer` has the name of a hook but no `@hookimpl`" in refusal(Plain())


def test_an_override_without_the_decorator_is_refused_although_the_base_has_it() -> None:
    class Base:
        @hookimpl
        def build_optimizer(self, config: Any) -> Any:
            return None

    class Override(Base):
        def build_optimizer(self, config: Any) -> Any:
            return None

    assert "no `@hookimpl`" in refusal(Override())


def test_a_misspelled_hook_is_refused_with_a_suggestion() -> None:
    class Misspelled:
        @hookimpl
        def build_optimiser(self, config: Any) -> Any:
            return None

    assert "`build_optimiser` is not a hook; did you mean `build_optimizer`?" in refusal(Misspelled())


@pytest.mark.parametrize("default", [False, True])
def test_a_misspelled_argument_is_refused_with_or_without_a_default(default: bool) -> None:
    class Misspelled:
        if default:

            @hookimpl
            def build_optimizer(self, confg: Any = None) -> Any:
                return None

        else:

            @hookimpl
            def build_optimizer(self, confg: Any) -> Any:
                return None

    assert "takes `confg`, which `build_optimizer` does not have; did you mean `config`?" in refusal(Misspelled())


def test_an_argument_that_looks_like_none_lists_what_there_is() -> None:
    class Foreign:
        @hookimpl
        def build_optimizer(self, quux: Any) -> Any:
            return None

    assert "(it has `config`, `model`)" in refusal(Foreign())


def test_arguments_that_would_never_be_filled_are_refused() -> None:
    class Keywords:
        @hookimpl
        def build_model(self, **kwargs: Any) -> Any:
            return None

        @hookimpl
        def build_optimizer(self, *, config: Any) -> Any:
            return None

        @hookimpl
        def build_loss_fn(self, *args: Any) -> Any:
            return None

    text = refusal(Keywords())
    assert all(f"`{name}` takes `" in text for name in ("build_model", "build_optimizer", "build_loss_fn"))


def test_a_class_is_refused_and_told_to_be_an_instance() -> None:
    class Forgotten:
        @hookimpl
        def build_model(self) -> Any:
            return None

    assert "`Forgotten` is a class: pass an instance, `Forgotten()`" in refusal(Forgotten)


def test_a_path_among_the_objects_is_refused_and_told_where_it_goes() -> None:
    assert "`plugin_files=`" in refusal("hooks.py")


@pytest.mark.parametrize("option", ["tryfirst", "trylast", "optionalhook", "hookwrapper"])
def test_options_that_would_change_the_order_are_refused(option: str) -> None:
    class Ordered:
        @hookimpl(**{option: True})
        def build_model(self) -> Any:
            yield

    assert f"sets `{option}`, which is not allowed" in refusal(Ordered())


def test_a_wrapper_that_does_not_yield_is_refused() -> None:
    class NoYield:
        @hookimpl(wrapper=True)
        def build_model(self) -> Any:
            return None

    assert "NoYield" in refusal(NoYield())


def test_an_object_without_any_hook_is_refused() -> None:
    assert "implements no hook" in refusal(object())


def test_the_same_object_twice_is_refused() -> None:
    class Once:
        @hookimpl
        def build_model(self) -> Any:
            return None

    once = Once()
    with pytest.raises(PluginError, match="given twice"):
        run_host(None, user_plugins=[once, once], core_plugins=[])


def test_all_problems_of_an_object_are_told_at_once() -> None:
    class Several:
        def build_model(self) -> Any:
            return None

        @hookimpl
        def build_optimiser(self) -> Any:
            return None

    text = refusal(Several())
    assert "build_model" in text
    assert "build_optimiser" in text


def test_properties_are_not_evaluated_and_ordinary_methods_are_left_alone() -> None:
    class Sound:
        @property
        def expensive(self) -> Any:
            raise AssertionError("evaluated")

        def helper(self) -> int:
            return 1

        @staticmethod
        @hookimpl
        def build_model() -> Any:
            return "model"

    assert run_host(None, user_plugins=[Sound()], core_plugins=[]).build("build_model", config=None) == "model"
