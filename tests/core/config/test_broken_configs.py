"""Configs with one mistake each: `automodel config validate` names that mistake, at its place, and nothing else.

The cases are in ``tests/data/broken_configs``, one file for each kind. A case is

    === what is wrong
    CODE line:column
    options, one a line
    (an empty line)
    the config, and after a line `+++ name` another file beside it

The place is ``source:line:column`` where the mistake is not in the config itself, and ``-`` where it has none. What a
run must have and the case does not mention is appended to the config. The options:

    help: TEXT      a part of the help; `help: none` for a mistake that has no fix to offer
    words: WORDS    more words of the command line
    env: NAME=TEXT  a variable of the environment
    file: NAME      the name of the config, instead of `cfg.yaml`
    bare            nothing is appended
    escaped         the config is written with the escapes of Python's bytes, such as `\\x00`
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from automodel_core.cli import main
from automodel_core.diagnostics import CODES

DIRECTORY = Path(__file__).parents[2] / "data" / "broken_configs"
DATA = ("squad.json", "rows.jsonl")
"""Files that the cases name as data, which have to be there."""
NEEDED = {
    ".yaml": {
        "model": "{_target_: NeMoAutoModelForCausalLM.from_pretrained, name_or_path: some/model}",
        "dataset": "{_target_: SquadDataset, path: squad.json}",
        "optimizer": "{_target_: torch.optim.AdamW, lr: 1.0e-3}",
    },
    ".toml": {
        "model": '_target_ = "NeMoAutoModelForCausalLM.from_pretrained"\nname_or_path = "some/model"',
        "dataset": '_target_ = "SquadDataset"\npath = "squad.json"',
        "optimizer": '_target_ = "torch.optim.AdamW"\nlr = 1e-3',
    },
}


@attrs.frozen
class Case:
    """One broken config and what must be said of it."""

    kind: str
    title: str
    code: str
    place: str
    options: Mapping[str, str]
    files: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.kind}: {self.title}"

    @property
    def config(self) -> str:
        return next(iter(self.files))

    @property
    def words(self) -> list[str]:
        return shlex.split(self.options.get("words", ""))

    def write(self, directory: Path) -> None:
        """Write the config and the files beside it, the data that configs name, and weight files without a weight."""
        for name in DATA:
            (directory / name).touch()
        for name, text in self.files.items():
            path = directory / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(self.data(text, path.suffix) if name == self.config else text.encode())
            if path.name == "config.json":
                path.with_name("model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")

    def data(self, text: str, suffix: str) -> bytes:
        """Return the bytes of the config, with what every run must have."""
        if "bare" not in self.options:
            for section, body in NEEDED[suffix].items():
                if not re.search(rf"^\[?{section}\b", text, re.MULTILINE):
                    text += f"[{section}]\n{body}\n" if suffix == ".toml" else f"{section}: {body}\n"
        return text.encode().decode("unicode_escape").encode("latin-1") if "escaped" in self.options else text.encode()


def cases() -> Iterator[Case]:
    """Yield every case of every file."""
    for path in sorted(DIRECTORY.glob("*.txt")):
        for block in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            header, _, body = block.partition("\n\n")
            title, expected, *lines = header.split("\n")
            code, place = expected.split(" ", 1)
            options = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
            first, *others = re.split(r"^\+\+\+ (.*)\n", body, flags=re.MULTILINE)
            files = {options.get("file", "cfg.yaml"): first.rstrip("\n") + "\n"}
            files |= {name: text.rstrip("\n") + "\n" for name, text in zip(others[::2], others[1::2], strict=True)}
            yield Case(path.stem, title, code, place, options, files)


CASES = tuple(cases())


def placed(case: Case, found: Mapping[str, Any]) -> str:
    """Return where a diagnostic points to, as a case writes it."""
    span = found["span"]
    if span is None:
        return "-"
    place = f"{span['line']}:{span['column']}"
    return place if span["source"] == case.config else f"{span['source']}:{place}"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_mistake_is_named_at_its_place_and_nothing_else_is(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    if "env" in case.options:
        name, _, value = case.options["env"].partition("=")
        monkeypatch.setenv(name, value)

    exit_code = main(["config", "validate", case.config, "--json", *case.words])

    verdict = json.loads(capsys.readouterr().out)
    found = verdict["diagnostics"]
    assert [(one["code"], placed(case, one)) for one in found] == [(case.code, case.place)]
    warns = case.code >= "AM9"
    assert (exit_code, verdict["valid"], found[0]["severity"]) == (
        (0, True, "warning") if warns else (2, False, "error")
    )
    expected_help = case.options.get("help", "")
    if expected_help == "none":
        assert found[0]["helps"] == []
    else:
        assert found[0]["helps"] != []
        assert expected_help in " ".join(found[0]["helps"])


def test_there_are_cases_for_what_a_config_can_get_wrong() -> None:
    covered = {case.code for case in CASES}
    assert len(CASES) >= 120
    assert covered <= set(CODES)
    reachable = {code for code in CODES if "AM100" <= code < "AM300" or "AM901" <= code < "AM920"}
    imports, machine = {"AM205", "AM206", "AM213"}, {"AM918"}  # AM918 is said where there is no GPU
    assert reachable - covered == imports | machine


@pytest.mark.parametrize("title", ["a tab indents", "an unknown argument"])
def test_the_command_line_says_the_same_as_the_process(title: str, tmp_path: Path) -> None:
    case = next(one for one in CASES if one.title == title)
    case.write(tmp_path)
    words = [sys.executable, "-m", "automodel_core", "config", "validate", case.config, "--json", *case.words]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    (found,) = json.loads(done.stdout)["diagnostics"]
    assert done.returncode == 2
    assert (found["code"], placed(case, found)) == (case.code, case.place)
    assert "Traceback" not in done.stderr
