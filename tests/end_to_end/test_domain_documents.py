"""The commands of each domain's document run in order, on stand-ins for its assets and with fewer steps."""

import re
import shlex
from pathlib import Path

import pytest
from tiny_assets import MAKERS

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENTS = [name for name in ("vlm", "diffusion", "retrieval") if (DOCS / f"{name}.md").exists()]
FEWER = {"finetune": ["--step_scheduler.max_steps", "2"], "pretrain": ["--step_scheduler.max_steps", "2"]}


def commands(document: str) -> list[list[str]]:
    text = (DOCS / f"{document}.md").read_text(encoding="utf-8")
    joined = "\n".join(re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)).replace("\\\n", " ")
    return [shlex.split(line, comments=True) for line in joined.splitlines() if line.startswith("automodel ")]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_runs(document, automodel, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOMODEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    found = commands(document)
    assert len(found) > 2
    for command in found:
        if command[1:3] == ["assets", "fetch"]:
            for name in command[3:]:
                MAKERS[name](tmp_path / "cache" / "assets" / name)
            continue
        code, out, err = automodel(*command[1:], *FEWER.get(command[1], []))
        assert code == 0, (command, out, err)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_asset_that_is_named_is_declared(document):
    from automodel_core.plugins import Catalog

    declared = set(Catalog.discover().assets)
    named = {name for command in commands(document) if command[1:3] == ["assets", "fetch"] for name in command[3:]}
    assert named
    assert named <= declared
