"""The README's first command, as it stands there, with only a smaller step count appended."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def readme_command() -> list[str]:
    """Return the first command of the README."""
    block = re.search(r"^```bash\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    (line,) = [line for line in block[1].splitlines() if line]
    return shlex.split(line)


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".venv" / "installed").exists(), reason="it makes `.venv`: `make test` has made it")
def test_it_trains_the_real_model_and_says_what_came_of_it():
    command = [*readme_command(), "--step_scheduler.max_steps", "2", "--checkpoint.keep_last", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1500, env=os.environ, check=False)
    if "AM360" in done.stderr:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr[-3000:]
    losses = [float(x) for x in re.findall(r"^loss=([\d.]+) perplexity", done.stdout, re.MULTILINE)]
    assert len(losses) == 2
    assert losses[1] < losses[0]
    adapter = ROOT / re.search(r"^adapter:\s+(\S+)", done.stdout, re.MULTILINE)[1]
    assert adapter.name == "step-2"
    assert (adapter / "adapter_model.safetensors").exists()
    for word in ("question:", "set-up:", "training:", "merge it:", "== before", "== after"):
        assert word in done.stdout
    shutil.rmtree(adapter.parent)
