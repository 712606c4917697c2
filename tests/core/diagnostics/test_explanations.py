"""Every explanation's wrong config earns its code, and the mended one does not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from automodel_core.cli import main
from automodel_core.config import load_run_config
from automodel_core.config.rules import ARGUMENT_RULES, NOTES, RULES
from automodel_core.config.vocabulary import Vocabulary, core_vocabulary
from automodel_core.diagnostics import CODES
from automodel_core.diagnostics.explanations import explanations
from automodel_core.errors import InputError
from automodel_core.specs import TrustedPrefix

FOUND = explanations()
VOCABULARY: Vocabulary = core_vocabulary().with_plugins(trusted=(TrustedPrefix("tiny"),))


def codes(path: Path, text: str, overrides: Sequence[str] = ()) -> list[str]:
    path.write_text(text)
    rules = (*RULES, *ARGUMENT_RULES, *NOTES)
    try:
        return [w.code for w in load_run_config(path, overrides, VOCABULARY, required=(), rules=rules).warnings]
    except InputError as error:
        return [problem.code for problem in error.diagnostics]


SHOWN = {code: said for code, said in FOUND.items() if said.wrong is not None}
"""Those that a config can show."""


@pytest.mark.parametrize("code", sorted(SHOWN))
def test_the_wrong_config_earns_the_code_and_the_right_one_does_not(code: str, tmp_path: Path) -> None:
    said = SHOWN[code]
    path = tmp_path / "cfg.yaml"
    assert said.wrong is not None

    assert codes(path, said.wrong, said.overrides) == [code]
    assert codes(path, said.wrong if said.overrides else said.right or "", said.corrected) == []
    assert (said.right is None) == bool(said.overrides)
    assert bool(said.corrected) == bool(said.overrides)


def test_every_code_is_explained_by_a_config_or_in_words() -> None:
    assert set(FOUND) == set(CODES)
    assert list(FOUND) == sorted(FOUND)
    for code, said in FOUND.items():
        assert said.cause.endswith("."), code
        assert bool(said.fix) != (said.wrong is not None), code
        assert not said.fix or said.fix.endswith("."), code


def test_what_a_config_alone_can_get_wrong_is_shown_by_one() -> None:
    configs = {code for code in CODES if "AM102" <= code < "AM152" or "AM201" <= code < "AM205"}
    assert configs - set(SHOWN) == {"AM124", "AM144", "AM146"}


def test_explain_prints_cause_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "AM141"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("AM141: unknown key in a section\n\nThe section has a fixed list of keys")
    assert "wrong\n    step_scheduler: {max_step: 10}\n\nright\n    step_scheduler: {max_steps: 10}\n" in out
    assert main(["explain", "AM113"]) == 0
    assert "    rng.seed=2 rng.seed=3\n\nright\n    rng.seed=3\n" in capsys.readouterr().out
    assert main(["explain", "am501"]) == 0
    assert capsys.readouterr().out == (
        "AM501: there is no such checkpoint\n\n`restore_from.path` names no checkpoint, or none is there yet.\n\n"
        "Name a `step-N` directory, or the directory that holds them.\n"
    )
