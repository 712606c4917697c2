"""What each check makes of the facts of a machine."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automodel_core.diagnostics import Diagnostic
from automodel_core.doctor import Finding
from automodel_core.doctor.installation import (
    Package,
    installed_version,
    minimums,
    package_finding,
    requirements_finding,
)
from automodel_core.doctor.machine import (
    GIB,
    Limits,
    available_memory,
    cgroup_limits,
    memory_finding,
    processors_finding,
)
from automodel_core.doctor.plugin_state import problem_finding
from automodel_core.doctor.storage import hub_finding, hub_home, nearest_directory, space_finding
from automodel_core.doctor.torch_build import TorchFacts, bf16_finding, processor_flags, torch_finding


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_finding_that_is_not_ok_must_say_a_fix() -> None:
    with pytest.raises(ValueError, match="says no fix"):
        Finding("disk", "warn", "nearly full")
    with pytest.raises(ValueError, match="status"):
        Finding("disk", "bad", "full", "delete something")  # type: ignore[arg-type]


class TestMachine:
    def test_the_tightest_limit_on_the_way_to_the_root_counts(self, tmp_path: Path) -> None:
        write(tmp_path / "cpu.max", "max 100000\n")
        write(tmp_path / "a" / "cpu.max", "150000 100000\n")
        write(tmp_path / "a" / "memory.max", f"{4 * GIB}\n")
        write(tmp_path / "a" / "b" / "memory.max", "max\n")
        membership = write(tmp_path / "own", "0::/a/b\n")
        assert cgroup_limits(tmp_path, membership) == Limits(1.5, 4 * GIB)

    def test_version_one_of_control_groups_is_read_too(self, tmp_path: Path) -> None:
        write(tmp_path / "cpu" / "cpu.cfs_quota_us", "200000\n")
        write(tmp_path / "cpu" / "cpu.cfs_period_us", "100000\n")
        write(tmp_path / "memory" / "memory.limit_in_bytes", "9223372036854771712\n")
        membership = write(tmp_path / "own", "4:memory:/docker/1\n")
        assert cgroup_limits(tmp_path, membership) == Limits(2.0, None)

    def test_without_control_groups_there_is_no_limit(self, tmp_path: Path) -> None:
        assert cgroup_limits(tmp_path / "none", tmp_path / "none") == Limits()

    def test_more_processors_than_the_container_may_use_is_a_warning(self) -> None:
        finding = processors_finding(64, Limits(processors=3.5))
        assert (finding.status, finding.fix) == ("warn", "set OMP_NUM_THREADS=3")
        assert processors_finding(4, Limits(processors=4.0)).status == "ok"
        assert processors_finding(4, Limits()).message == "4 usable"

    def test_little_memory_is_a_warning_wherever_the_limit_comes_from(self) -> None:
        assert memory_finding(64 * GIB, 32 * GIB, Limits()).status == "ok"
        assert memory_finding(64 * GIB, GIB, Limits()).status == "warn"
        limited = memory_finding(64 * GIB, 32 * GIB, Limits(memory_bytes=GIB))
        assert limited.status == "warn"
        assert "limited to 1.0 GiB" in limited.message

    def test_available_memory_is_what_the_system_says(self, tmp_path: Path) -> None:
        meminfo = write(tmp_path / "meminfo", "MemTotal:  4096 kB\nMemAvailable:  2048 kB\n")
        assert available_memory(meminfo) == 2048 * 1024
        assert available_memory(tmp_path / "none") is None


class TestTorch:
    FACTS = TorchFacts("2.13.0", "CUDA 13.0", can_use_gpu=True, machine_has_nvidia=True)

    def test_a_build_that_fits_the_machine_is_ok(self) -> None:
        assert torch_finding(self.FACTS).status == "ok"
        assert torch_finding(TorchFacts("2.13.0+cpu", "cpu", False, False)).status == "ok"

    def test_a_gpu_that_is_not_used_is_a_warning(self) -> None:
        for facts in (
            attrs.evolve(self.FACTS, can_use_gpu=False),
            attrs.evolve(self.FACTS, build="cpu", can_use_gpu=False),
        ):
            assert torch_finding(facts).status == "warn"

    def test_bf16_that_is_emulated_is_a_warning_on_a_gpu_only(self) -> None:
        assert bf16_finding("V100", native=False, is_gpu=True).status == "warn"
        assert bf16_finding("this processor", native=False, is_gpu=False).status == "ok"
        assert "computes in bf16" in bf16_finding("H200", native=True, is_gpu=True).message

    @pytest.mark.parametrize("key", ["flags", "Features"])
    def test_the_features_of_a_processor_are_read_as_linux_writes_them(self, tmp_path: Path, key: str) -> None:
        cpuinfo = write(tmp_path / "cpuinfo", f"processor\t: 0\n{key}\t\t: fp bf16\n")
        assert processor_flags(cpuinfo) == {"fp", "bf16"}
        assert processor_flags(tmp_path / "none") == frozenset()


class TestStorage:
    def test_the_disk_of_a_directory_that_is_not_there_yet_is_checked_and_nothing_is_made(self, tmp_path: Path) -> None:
        directory = tmp_path / "a" / "b"
        finding = space_finding("checkpoints", directory, "use another disk")
        assert f"GiB free in {directory}" in finding.message
        assert list(tmp_path.iterdir()) == []

    def test_a_place_that_cannot_be_written_to_fails_with_the_reason(self) -> None:
        finding = space_finding("cache", Path("/proc/1/cache"), "set CACHE to a directory with more room")
        assert finding.status == "fail"
        assert finding.message.startswith("/proc/1 cannot be written to: ")
        assert finding.fix == "set CACHE to a directory that you may write to"

    def test_little_room_is_a_warning_with_the_fix(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("automodel_core.doctor.storage.LITTLE_SPACE", 2**80)
        finding = space_finding("cache", tmp_path, "set CACHE to a directory with more room")
        assert (finding.status, finding.fix) == ("warn", "set CACHE to a directory with more room")

    def test_the_closest_directory_that_exists_is_found(self, tmp_path: Path) -> None:
        assert nearest_directory(tmp_path / "x" / "y") == tmp_path
        assert nearest_directory(tmp_path) == tmp_path

    def test_the_home_of_the_hub_follows_the_environment_as_its_library_does(self) -> None:
        assert hub_home({"HF_HOME": "/data/hf", "XDG_CACHE_HOME": "/x"}) == Path("/data/hf")
        assert hub_home({"XDG_CACHE_HOME": "/x"}) == Path("/x/huggingface")
        assert hub_home({}) == Path.home() / ".cache" / "huggingface"

    @pytest.mark.parametrize(("value", "words"), [("1", "is set"), ("TRUE", "is set"), ("0", "is not"), ("", "is not")])
    def test_whether_the_hub_may_be_asked_is_told_and_not_tried(self, value: str, words: str) -> None:
        finding = hub_finding({"HF_HUB_OFFLINE": value})
        assert finding.status == "ok"
        assert words in finding.message


class TestInstallation:
    def test_a_package_that_is_needed_fails_and_another_is_only_told(self) -> None:
        needed = Package("safetensors", "no weights can be read", needed=True)
        assert package_finding(needed, None).status == "fail"
        assert package_finding(needed, "0.8.0") == Finding("safetensors", "ok", "0.8.0")
        optional = package_finding(Package("matplotlib", "no picture"), None)
        assert (optional.status, optional.fix) == ("ok", "pip install matplotlib")
        assert optional.message == "not installed: no picture"

    def test_versions_are_read_without_an_import(self) -> None:
        assert installed_version("attrs")
        assert installed_version("a-package-that-is-not-there") is None

    def test_a_package_older_than_declared_fails_with_what_to_type(self) -> None:
        declared = ["attrs>=24.2", "torch>=2.9", "transformers>=5.20; extra == 'transformers'", "tomli"]
        installed = {"attrs": "26.1.0", "torch": "2.10.0+cpu", "transformers": "5.9.1"}
        finding = requirements_finding(declared, installed)
        assert finding.status == "fail"
        assert finding.message == "transformers 5.9.1 is older than 5.20"
        assert finding.fix == "pip install -U 'transformers>=5.20'"
        fine = requirements_finding(declared, installed | {"transformers": "5.20"})
        assert (fine.status, fine.message[:10]) == ("ok", "3 packages")

    def test_a_package_that_is_missing_is_not_old(self) -> None:
        assert requirements_finding(["attrs>=24.2"], {"attrs": None}).status == "ok"

    @given(st.lists(st.integers(0, 30), min_size=1, max_size=4), st.lists(st.integers(0, 30), min_size=1, max_size=4))
    def test_versions_are_compared_by_their_numbers(self, have: list[int], want: list[int]) -> None:
        version, lowest = (".".join(map(str, numbers)) for numbers in (have, want))
        padded = [numbers + [0] * (4 - len(numbers)) for numbers in (have, want)]
        finding = requirements_finding([f"x>={lowest}"], {"x": version})
        assert (finding.status == "fail") == (padded[0] < padded[1])

    def test_minimums_are_read_with_and_without_extras(self) -> None:
        assert list(minimums(["a-b[c]>=1.2; extra == 'd'", "e"])) == [("a-b", "1.2")]


@pytest.mark.parametrize(
    ("code", "status"), [("AM601", "fail"), ("AM602", "fail"), ("AM603", "warn"), ("AM604", "warn")]
)
def test_a_problem_of_a_plugin_is_a_finding_with_its_code(code: str, status: str) -> None:
    finding = problem_finding(Diagnostic(code, "the plugin is odd", helps=("repair it",)))
    assert finding == Finding("plugins", status, f"the plugin is odd [{code}]", "repair it")  # type: ignore[arg-type]
    assert problem_finding(Diagnostic(code, "odd")).fix
