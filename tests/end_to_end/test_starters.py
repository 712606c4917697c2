"""Every starter is complete, begins with the command that runs it, and trains."""

import json
import re
import shlex
from importlib import resources
from pathlib import Path

import pytest
from tiny_assets import MAKERS

STARTERS = {
    place.name: place
    for domain in ("llm", "vlm", "diffusion", "retrieval")
    if (folder := resources.files(f"automodel_{domain}") / "starters").is_dir()
    for place in folder.iterdir()
    if place.name.endswith(".yaml")
}
TRAINING = sorted(name for name, place in STARTERS.items() if place.read_text().split()[2] in ("finetune", "pretrain"))


@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    """A cache in which the assets' names are those of a tiny model and a few rows."""
    home = tmp_path_factory.mktemp("cache")
    for name, make in MAKERS.items():
        make(home / "assets" / name)
    return home


@pytest.fixture(autouse=True)
def in_a_folder(assets, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOMODEL_CACHE", str(assets))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", TRAINING)
def test_a_copied_starter_trains_by_the_command_of_its_first_line(name, automodel, tmp_path):
    code, out, err = automodel("recipes", "copy", name.removesuffix(".yaml"), "mine.yaml")
    assert code == 0, err
    command = shlex.split((tmp_path / "mine.yaml").read_text().splitlines()[0].removeprefix("# "))
    assert out.strip() == shlex.join(command)
    assert command[0] == "automodel"
    code, _, err = automodel("config", "validate", "mine.yaml")
    assert code == 0, err
    code, _, err = automodel(*command[1:], "--step_scheduler.max_steps", 2, "--step_scheduler.val_check_interval", 2)
    assert code == 0, err
    assert "validation: step=2" in err
    assert list(tmp_path.glob("runs/*/step-2/manifest.json"))


@pytest.mark.parametrize("name", sorted(STARTERS))
def test_a_starter_says_what_it_does_what_it_took_and_how_to_fetch_its_assets(name):
    text = STARTERS[name].read_text()
    head = text.partition("\n\n")[0]
    assert head.startswith("# automodel ")
    assert name in head.splitlines()[0]
    assert "automodel assets fetch" in head
    for measured in ("CPU", "GiB"):
        assert measured in head


def test_the_list_names_every_starter_with_its_command(automodel):
    _, out, _ = automodel("recipes", "list", "--json")
    rows = json.loads(out)
    assert sorted(row["name"] + ".yaml" for row in rows) == sorted(STARTERS)
    assert all(row["command"].startswith("automodel ") and row["summary"] for row in rows)


def test_copying_never_writes_over_a_file_and_knows_its_names(automodel, tmp_path):
    (tmp_path / "mine.yaml").write_text("precious")
    code, _, err = automodel("recipes", "copy", "smollm2_lora", "mine.yaml")
    assert (code, "is there already" in err) == (2, True)
    assert (tmp_path / "mine.yaml").read_text() == "precious"
    code, _, err = automodel("recipes", "copy", "smollm2_lore", "other.yaml")
    assert (code, "did you mean `smollm2_lora`" in err) == (2, True)
    assert not Path("other.yaml").exists()


def test_the_readme_s_commands_for_data_of_one_s_own_run_in_order(automodel):
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    (block,) = [b for b in re.findall(r"^```bash\n(.*?)^```", readme, re.MULTILINE | re.DOTALL) if "recipes copy" in b]
    commands = [shlex.split(line, comments=True) for line in block.splitlines() if line.startswith("automodel")]
    order = ["recipes", "recipes", "assets", "data", "finetune", "evaluate", "generate", "checkpoint"]
    assert [command[1] for command in commands] == order
    for command in (command for command in commands if command[1] != "assets"):  # which are made here, and small
        fewer = ["--step_scheduler.max_steps", "2"] if command[1] == "finetune" else []
        code, out, err = automodel(*command[1:], *fewer)
        assert code == 0, (command, err)
        assert out or command[1] == "finetune"
    assert Path("merged/config.json").exists()
