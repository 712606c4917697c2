"""``docs/hooks.md`` says exactly what the specifications say."""

from __future__ import annotations

from pathlib import Path

from automodel_core.hookspecs.reference import END, signature, with_reference
from automodel_core.plugins.hook_table import SPECIFICATIONS, hook_table

DOCUMENT = Path(__file__).parents[2] / "docs" / "hooks.md"


def test_the_reference_is_the_current_one() -> None:
    """Refresh it with ``python -m automodel_core.hookspecs.reference docs/hooks.md``."""
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == with_reference(text)


def test_every_hook_stands_there_with_its_exact_signature() -> None:
    text = DOCUMENT.read_text(encoding="utf-8").partition(END)[0]
    specified = {name: function for module in SPECIFICATIONS.values() for name, function in vars(module).items()}
    for name in hook_table():
        assert f"### `{name}`\n\n```python\n{signature(specified[name])}\n```" in text


def test_a_builder_and_a_stage_take_the_first_answer_and_an_event_takes_none() -> None:
    for hook in hook_table().values():
        assert hook.first_result == (hook.kind in ("builder", "stage")), hook


def test_every_hook_has_its_contract_in_words() -> None:
    for module in SPECIFICATIONS.values():
        for name in hook_table().keys() & vars(module).keys():
            assert getattr(module, name).__doc__, name
