"""The README's first command, as it stands there, with only a smaller step count appended."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / ".venv" / "installed").exists(), reason="it makes `.venv`: `make test` has made it"),
]


def readme_commands() -> list[list[str]]:
    """Return the commands of the README that begin with the script."""
    blocks = re.findall(r"^```bash\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    whole = (block.replace("\\\n", " ") for block in blocks)
    lines = [shlex.split(line, comments=True) for block in whole for line in block.splitlines()]
    return [line for line in lines if line[:1] == ["./quickstart"]]


def run(command: list[str], *overrides: str) -> str:
    """Run the command from a bare clone, and return what it printed."""
    words = [*command, "--checkpoint.keep_last", "1", *overrides]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=1500, env=os.environ, check=False)
    if "AM360" in done.stderr:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_it_trains_the_real_model_and_says_what_came_of_it():
    out = run(readme_commands()[0], "--step_scheduler.max_steps", "2")
    losses = [float(x) for x in re.findall(r"^loss=([\d.]+) perplexity", out, re.MULTILINE)]
    assert len(losses) == 2
    assert losses[1] < losses[0]
    adapter = ROOT / re.search(r"^adapter:\s+(\S+)", out, re.MULTILINE)[1]
    assert adapter.name == "step-2"
    assert (adapter / "adapter_model.safetensors").exists()
    for word in ("question:", "set-up:", "training:", "merge it:", "== before", "== after"):
        assert word in out
    shutil.rmtree(adapter.parent)


FEWER = {
    "vlm": ["--validation_dataset.limit", "20", "--dataset.limit", "200"],
    "diffusion": ["--sampling.per_condition", "1", "--sampling.num_inference_steps", "2"],
    "retrieval": ["--validation_dataset.limit", "40", "--dataset.limit", "200"],
}
FIGURES = {"vlm": "exact_match=", "diffusion": "10 images in", "retrieval": "recall@10="}
DIRECTORIES = {"vlm": "config.json", "diffusion": "model_index.json", "retrieval": "modules.json"}


def test_the_readme_has_one_for_every_domain():
    assert [command[1:] for command in readme_commands()] == [[], ["vlm"], ["diffusion"], ["retrieval"]]


@pytest.mark.parametrize("domain", FEWER)
def test_a_domain_s_own_trains_and_leaves_a_directory_for_its_library(domain):
    out = run(["./quickstart", domain], "--step_scheduler.max_steps", "2", *FEWER[domain])
    assert FIGURES[domain] in out.partition("== after")[2]
    saved = ROOT / re.search(r"^(?:model|pipeline):\s+(\S+)", out, re.MULTILINE)[1]
    assert saved.name == "step-2"
    assert (saved / DIRECTORIES[domain]).exists()
    shutil.rmtree(saved.parent)
