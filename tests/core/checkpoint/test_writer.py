import os
import signal
import subprocess
import sys

import pytest

from automodel_core.checkpoint.config import CheckpointConfig
from automodel_core.checkpoint.writer import CheckpointWriter
from automodel_core.errors import InputError

HOLD = """
import sys, time
from pathlib import Path
from automodel_core.checkpoint.lock import lock_directory
lock = lock_directory(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def writer(home, **settings):
    return CheckpointWriter(CheckpointConfig(home, **settings))


def test_a_second_writer_is_refused_before_it_touches_anything(tmp_path):
    first = writer(tmp_path)
    first.prepare(resuming_from=None)
    (tmp_path / ".step-2.partial").mkdir()
    with pytest.raises(InputError, match=f"another run is writing to `{tmp_path}`") as error:
        writer(tmp_path, overwrite=True).prepare(resuming_from=tmp_path / "step-1")
    assert error.value.diagnostics[0].code == "AM512"
    assert (tmp_path / ".step-2.partial").is_dir()
    first.close()
    assert writer(tmp_path).prepare(resuming_from=None) == [".step-2.partial"]


def test_the_lock_of_another_process_goes_when_it_is_killed(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="another run is writing"):
            writer(tmp_path).prepare(resuming_from=None)
    finally:
        holder.kill()
        holder.communicate()
    writer(tmp_path).prepare(resuming_from=None)


def test_a_forked_worker_does_not_keep_the_lock(tmp_path):
    fork = 'import os\nif os.fork() == 0:\n    print("forked", flush=True)\n    time.sleep(60)\nos._exit(0)'
    script = HOLD.replace('print("held", flush=True)', "").replace("time.sleep(60)", fork)
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert holder.stdout.readline() == "forked\n"
        holder.wait(timeout=60)
        writer(tmp_path).prepare(resuming_from=None)
    finally:
        os.killpg(holder.pid, signal.SIGKILL)
        holder.stdout.close()
