"""Renderings of diagnostics."""

from __future__ import annotations

import io
import json

import pytest

from automodel_core.diagnostics import (
    Diagnostic,
    Span,
    closest,
    did_you_mean,
    render,
    render_blocks,
    render_concise,
    render_json,
)

TYPO = Diagnostic(
    "AM141",
    "unknown key `max_step` in `step_scheduler`",
    Span("cfg.yaml", 12, 3, 11, "  max_step: 100"),
    "unknown key",
    ("did you mean `max_steps`?",),
)
GENERAL = Diagnostic("AM905", "nothing validates", severity="warning")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_block_has_the_code_the_place_the_line_a_caret_and_what_to_type() -> None:
    assert render_blocks([TYPO, GENERAL]) == (
        "error: unknown key `max_step` in `step_scheduler` [AM141]\n"
        "  --> cfg.yaml:12:3\n"
        "    |\n"
        " 12 |   max_step: 100\n"
        "    |   ^^^^^^^^ unknown key\n"
        "  help: did you mean `max_steps`?\n"
        "\n"
        "warning: nothing validates [AM905]\n"
    )


def test_words_of_the_command_line_have_no_line_number() -> None:
    block = render_blocks([Diagnostic("AM110", "no", Span("<command line>", 1, 3, 7, "--a.bc 1"))])
    assert block.splitlines()[2:] == ["  |", "  | --a.bc 1", "  |   ^^^^"]


def test_a_caret_stays_under_wide_characters_and_tabs() -> None:
    for text, column in (("\tk: x", 5), ("名前: x", 5), ("é: x", 4)):
        lines = render_blocks([Diagnostic("AM142", "no", Span("c.yaml", 1, column, column + 1, text))]).splitlines()
        shown, caret = lines[3], lines[4]
        cells = sum(2 if ord(c) > 0x3000 else 1 for c in shown[: shown.rindex("x")])
        assert caret.index("^") == cells


def test_a_long_line_is_cut_around_the_place() -> None:
    text = "k: [" + "a, " * 500 + "oops, " + "b, " * 500 + "]"
    column = text.index("oops") + 1
    lines = render_blocks([Diagnostic("AM142", "no", Span("c.yaml", 1, column, column + 4, text))]).splitlines()
    shown, caret = lines[3], lines[4]
    assert len(shown) < 140
    assert shown[caret.index("^") : caret.rindex("^") + 1] == "oops"


def test_what_a_terminal_would_obey_is_not_passed_on() -> None:
    nasty = "a\x1b[31m\x07\u202eb\nc"
    found = Diagnostic("AM101", nasty, Span("c\x1b.yaml", 1, 1, 2, nasty), nasty, (nasty,))
    for text in (render_blocks([found]), render_concise([found])):
        assert not set("\x1b\x07\u202e") & set(text)
    assert render_concise([found]).count("\n") == 1


def test_a_place_outside_its_line_does_not_break_the_block() -> None:
    assert "^" in render_blocks([Diagnostic("AM102", "no", Span("c.yaml", 1, 40, 30, "a: b"))])
    assert "^" not in render_blocks([Diagnostic("AM104", "no", Span("c.yaml", 1, 1, 1, ""))])


def test_the_concise_form_is_one_line_each() -> None:
    assert render_concise([TYPO, GENERAL]) == (
        "cfg.yaml:12:3: error: unknown key `max_step` in `step_scheduler` [AM141]\nwarning: nothing validates [AM905]\n"
    )


def test_json_has_every_field() -> None:
    first, second = json.loads(render_json([TYPO, GENERAL]))
    assert first == {
        "code": "AM141",
        "severity": "error",
        "message": TYPO.message,
        "label": "unknown key",
        "helps": ["did you mean `max_steps`?"],
        "span": {"source": "cfg.yaml", "line": 12, "column": 3, "end_column": 11, "text": "  max_step: 100"},
    }
    assert second["span"] is None


def test_colour_is_for_terminals_only_and_not_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in render([TYPO], Terminal())
    assert "\x1b[" not in render([TYPO], io.StringIO())
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b[" not in render([TYPO], Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in render([TYPO], Terminal())


def test_the_closest_names_come_first_and_case_does_not_matter() -> None:
    assert closest("MAX_STEPS", ["min_steps", "max_steps"])[0] == "max_steps"
    assert did_you_mean("zzz", ["max_steps"]) == ()
    assert did_you_mean("max_step", ["max_steps"]) == ("did you mean `max_steps`?",)
