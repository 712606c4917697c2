"""``automodel doctor`` on this machine, and with plugins that add checks."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from automodel_core.cli import main

PLUGIN = """
from automodel_core import hookimpl
from automodel_core.specs import DoctorCheck

@hookimpl
def doctor_checks():
    return [DoctorCheck("codec", "{name}_checks:codec", "The audio codec.")]
"""


@pytest.fixture
def doctor(capfd, tmp_path):
    """Run the command; return its exit code and its findings."""

    def run(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
        capfd.readouterr()
        code = main(["doctor", "--json", "--checkpoints", str(tmp_path), *arguments])
        return code, json.loads(capfd.readouterr().out)

    return run


@pytest.fixture
def install_check(install_plugin):
    """Install a plugin whose one check has this source."""

    def install(source: str, name: str = "audio") -> None:
        directory = install_plugin(name, PLUGIN.format(name=name))
        (directory / f"{name}_checks.py").write_text(source, encoding="utf-8")

    yield install
    for name in ("audio", "video"):
        sys.modules.pop(f"{name}_checks", None)


def test_every_finding_has_a_status_and_one_that_is_not_ok_has_a_fix(doctor):
    code, findings = doctor()
    assert {"python", "torch", "cpu", "bf16", "processors", "memory", "checkpoints", "HF_HOME"} <= {
        finding["check"] for finding in findings
    }
    assert all(finding["status"] in ("ok", "warn", "fail") for finding in findings)
    assert all(finding["fix"] for finding in findings if finding["status"] != "ok")
    assert code == int(any(finding["status"] == "fail" for finding in findings))


def test_optional_packages_are_told_with_their_versions_or_what_is_missed(doctor):
    _, findings = doctor()
    found = {finding["check"]: finding for finding in findings}
    for name in ("transformers", "matplotlib", "tensorboard", "pyarrow"):
        missing = found[name]["message"].startswith("not installed")
        assert missing == (importlib.util.find_spec(name) is None)
        assert found[name]["fix"] if missing else found[name]["message"][0].isdigit()


def test_a_check_of_a_plugin_is_run_and_named_after_it(doctor, install_check):
    install_check(
        "from automodel_core.doctor import Finding\n"
        "def codec():\n"
        "    print('noise')\n"
        "    yield Finding('codec', 'warn', 'old', 'update it')\n"
    )
    code, findings = doctor()
    (finding,) = [finding for finding in findings if "audio" in finding["owner"]]
    assert finding["owner"] == "plugin `audio` (automodel-audio 1.0)"
    assert (finding["check"], finding["status"], finding["fix"]) == ("codec", "warn", "update it")
    assert code == 0


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def codec():\n    raise RuntimeError('no codec')", "raised RuntimeError: no codec"),
        ("def codec():\n    return ['fine']", "returned a `str`, not a `Finding`"),
        ("def codec():\n    return None", "raised TypeError"),
        ("def other():\n    pass", "raised AttributeError"),
        ("import a_module_that_is_not_there", "raised ModuleNotFoundError"),
        (
            "from automodel_core.doctor import Finding\ndef codec():\n    return Finding('codec', 'warn', 'old')",
            "says no fix",
        ),
    ],
)
def test_a_check_that_breaks_fails_with_the_name_of_its_plugin_and_the_others_are_run(
    doctor, install_check, source, said
):
    install_check(source)
    install_check(
        "from automodel_core.doctor import Finding\ndef codec():\n    return Finding('v', 'ok', 'fine')", "video"
    )
    code, findings = doctor()
    (finding,) = [finding for finding in findings if "`audio`" in finding["owner"]]
    assert (finding["check"], finding["status"], code) == ("codec", "fail", 1)
    assert said in finding["message"]
    assert "plugin `audio` (automodel-audio 1.0)" in finding["message"]


def test_a_broken_plugin_fails_the_command(doctor, install_plugin):
    install_plugin("bad", "raise RuntimeError('no licence')")
    code, findings = doctor()
    (finding,) = [finding for finding in findings if finding["check"] == "plugins" and finding["status"] == "fail"]
    assert "no licence" in finding["message"]
    assert "AUTOMODEL_DISABLE_PLUGINS=bad" in finding["fix"]
    assert code == 1


def test_a_disabled_plugin_is_told(doctor, install_plugin, monkeypatch):
    install_plugin("bad", "raise RuntimeError('no licence')")
    monkeypatch.setenv("AUTOMODEL_DISABLE_PLUGINS", "bad")
    code, findings = doctor()
    (finding,) = [finding for finding in findings if finding["check"] == "plugins"]
    assert finding["message"].endswith("disabled: bad")
    assert code == 0


def test_for_people_there_is_a_line_for_each_with_the_fix_below_and_the_numbers_at_the_end(
    capfd, tmp_path, install_check
):
    install_check(
        "from automodel_core.doctor import Finding\ndef codec():\n    return Finding('codec','fail','gone','buy')"
    )
    assert main(["doctor", "--checkpoints", str(tmp_path)]) == 1
    rows = capfd.readouterr().out.splitlines()
    assert rows[0].startswith("ok    python           3.")
    assert rows[-3:-1] == ["fail  codec            gone", "                       fix: buy"]
    assert rows[-1].endswith(" 1 fail")


def test_a_checkpoint_directory_that_cannot_be_written_fails(capfd):
    assert main(["doctor", "--json", "--checkpoints", "/proc/1/checkpoints"]) == 1
    (finding,) = [entry for entry in json.loads(capfd.readouterr().out) if entry["status"] == "fail"]
    assert finding["check"] == "checkpoints"
    assert "`checkpoint.directory`" in finding["fix"]


def test_without_torch_it_says_so_and_goes_on():
    program = "import sys\nsys.modules['torch'] = None\nfrom automodel_core.cli import main\nmain(['doctor', '--json'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    findings = {finding["check"]: finding for finding in json.loads(done.stdout)}
    assert findings["torch"]["status"] == "fail"
    assert "cannot be imported" in findings["torch"]["message"]
    assert "bf16" not in findings
    assert findings["plugins"]["status"] == "ok"


def test_its_help_imports_no_torch_and_leaves_no_file(tmp_path: Path):
    program = (
        "import sys\nfrom automodel_core.cli import main\n"
        "try:\n    main(['doctor', '--help'])\nfinally:\n    print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout.splitlines()[0].startswith("usage: automodel doctor")
    assert done.stdout.splitlines()[-1] == "False"
