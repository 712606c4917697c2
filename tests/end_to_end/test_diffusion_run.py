"""Training a denoiser: what diffusers loads of it, and what is said of a config that cannot work."""

import copy
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers import DiffusionPipeline, UNet2DModel
from PIL import Image
from safetensors.torch import load_file, save_file
from tiny_pipelines import LABELLED_UNET, make_dit, make_stable_diffusion, make_stable_diffusion_3, write_images

import automodel_core as am
from automodel_diffusion.flow.draws import draw
from automodel_diffusion.flow.path import on_path
from automodel_diffusion.recipes.train import sampled

SAMPLING = {"labels": [0, 1, 2, 3], "num_inference_steps": 3, "guidance_scale": 2.0}


@pytest.fixture(scope="module")
def dit(tmp_path_factory):
    return make_dit(tmp_path_factory.mktemp("dit"))


@pytest.fixture
def config(tmp_path):
    return {
        "model": {"_target_": "NeMoAutoDiffusionPipeline.from_config", "unet": dict(LABELLED_UNET)},
        "parallel_scheme": {"unet": {"strategy": "fsdp2"}},
        "dataset": {
            "_target_": "ImageDataset",
            "path": str(write_images(tmp_path / "images")),
            "size": 8,
            "channels": 1,
            "label": "label",
        },
        "optimizer": {"_target_": "torch.optim.AdamW", "lr": 2e-3},
        "dataloader": {"batch_size": 4},
        "step_scheduler": {"max_steps": 2},
        "checkpoint": {"directory": str(tmp_path / "run")},
    }


@pytest.fixture
def latents(config, dit, tmp_path):
    """A config of a pipeline directory with labels, in latents."""
    config["model"] = {"_target_": "NeMoAutoDiffusionPipeline", "name_or_path": str(dit)}
    config["parallel_scheme"] = {"transformer": {"strategy": "ddp"}}
    path = write_images(tmp_path / "colour", edge=16, channels=3)
    config["dataset"] |= {"path": str(path), "size": 16, "channels": 3}
    return config


def loaded(directory):
    pipeline = DiffusionPipeline.from_pretrained(directory, trust_remote_code=True)
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def sampled_by_diffusers(directory):
    """Return what plain diffusers samples of ``directory`` for :data:`SAMPLING`."""
    generators = [torch.Generator().manual_seed(number) for number in range(4)]
    pipeline = loaded(directory)
    return pipeline(class_labels=[0, 1, 2, 3], guidance_scale=2.0, num_inference_steps=3, generator=generators).images


def pixels(image):
    return np.asarray(image.convert("L"))


def test_the_first_loss_is_that_of_a_loop_by_hand(config, records):
    recipe = am.run({**config, "step_scheduler": {"max_steps": 1}}, route="pretrain diffusion")
    torch.manual_seed(42)
    model = UNet2DModel.from_config(LABELLED_UNET)
    batch = recipe.run.stream.loader.batches(0).__next__()
    draws = draw(recipe.config.flow_matching, batch["seeds"], batch["images"].shape[1:])
    noisy = on_path(batch["images"], draws.noise, draws.levels)
    labels = torch.where(draws.drop, 4, batch["labels"])
    with torch.no_grad():
        predicted = model(noisy, draws.levels * 1000, class_labels=labels).sample
    expected = (predicted - (draws.noise - batch["images"])).square().mean()
    assert records(config["checkpoint"]["directory"], "step")[0]["loss"] == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.parametrize("ema", [None, 0.5])
def test_diffusers_loads_a_checkpoint_and_samples_the_same_images(config, tmp_path, automodel, ema):
    config |= {"sampling": SAMPLING, "ema": {"decay": ema}}
    am.run(config, route="pretrain diffusion")
    saved = tmp_path / "run" / "step-2"
    theirs = sampled_by_diffusers(saved)
    (tmp_path / "cfg.yaml").write_text(json.dumps(config))
    words = ("-c", tmp_path / "cfg.yaml", "--restore_from.path", saved, "--output", tmp_path / "out")
    code, out, err = automodel("generate", "diffusion", *words)
    assert code == 0, err
    assert "4 images" in out
    for number, image in enumerate(theirs):
        ours = Image.open(tmp_path / "out" / f"{number:05d}.png")
        assert np.array_equal(pixels(ours), pixels(image))
    grid = Image.open(tmp_path / "run" / "samples" / "step-2.png")
    assert grid.size == (4 * 9 - 1, 8)


def test_a_checkpoint_shows_the_average_and_keeps_the_weights_that_train(config, tmp_path):
    recipe = am.run({**config, "ema": {"decay": 0.9, "warmup": False}}, route="pretrain diffusion")
    shown = load_file(tmp_path / "run/step-2/unet/diffusion_pytorch_model.safetensors")
    state = load_file(tmp_path / "run/step-2/state/ema.safetensors")
    name = "conv_in.weight"
    trained = dict(recipe.run.model.named_parameters())[name]
    assert torch.equal(shown[name], state[f"average:{name}"])
    assert torch.equal(trained, state[f"trained:{name}"])
    assert not torch.equal(trained, shown[name])


def test_a_pipeline_directory_stays_one_and_only_its_denoiser_changes(latents, dit, tmp_path):
    am.run({**latents, "sampling": {**SAMPLING, "guidance_scale": 1.0}}, route="finetune diffusion")
    saved, source = tmp_path / "run" / "step-2", Path(dit)
    assert type(loaded(saved)).__name__ == "DiTPipeline"
    before, after = (load_file(d / "transformer/diffusion_pytorch_model.safetensors") for d in (source, saved))
    assert before.keys() == after.keys()
    assert any(not torch.equal(before[key], after[key]) for key in before)
    frozen = "vae/diffusion_pytorch_model.safetensors"
    assert (saved / frozen).read_bytes() == (source / frozen).read_bytes()


def test_latents_computed_before_give_the_loss_of_the_pixels(latents, dit, tmp_path, records):
    am.run(latents, route="finetune diffusion")
    vae = loaded(dit).vae
    rows = [json.loads(line) for line in (tmp_path / "colour/rows.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        values = np.asarray(Image.open(tmp_path / "colour" / row["image"]), dtype=np.float32) / 127.5 - 1
        with torch.no_grad():
            found = vae.encode(torch.from_numpy(values).permute(2, 0, 1)[None]).latent_dist.mode()[0]
        save_file({"latent": found * vae.config.scaling_factor}, tmp_path / "colour" / f"{number}.safetensors")
        row["latent"] = f"{number}.safetensors"
    (tmp_path / "colour/latents.jsonl").write_text("\n".join(map(json.dumps, rows)))
    latents["dataset"] = {
        "_target_": "LatentDataset",
        "path": str(tmp_path / "colour/latents.jsonl"),
        "label": "label",
    }
    latents["checkpoint"]["directory"] = str(tmp_path / "latent-run")
    am.run(latents, route="finetune diffusion")
    one, other = ([s["loss"] for s in records(tmp_path / d, "step")] for d in ("run", "latent-run"))
    assert one == pytest.approx(other, rel=1e-4)


@pytest.mark.parametrize("make", [make_stable_diffusion, make_stable_diffusion_3])
def test_a_prompt_reaches_what_is_sampled_and_diffusers_samples_the_same(config, tmp_path, make):
    config["model"] = {"_target_": "NeMoAutoDiffusionPipeline", "name_or_path": str(make(tmp_path / "sd"))}
    component = "unet" if make is make_stable_diffusion else "transformer"
    config["parallel_scheme"] = {component: {"strategy": "fsdp2"}}
    path = write_images(tmp_path / "colour", edge=16, channels=3)
    config["dataset"] |= {"path": str(path), "size": 16, "channels": 3, "label": None, "caption": "caption"}
    config["step_scheduler"]["max_steps"] = 20
    config["sampling"] = {"prompts": ["part 0", "part 3"], "num_inference_steps": 2}
    recipe = am.run(config, route="finetune diffusion")
    assert "text_encoder" in recipe.run.processor.pipeline.components
    trained = loaded(tmp_path / "run/step-20")
    size = {"num_inference_steps": 2, "height": 16, "width": 16, "guidance_scale": 1.0}
    first = torch.Generator().manual_seed(0)
    latents = [trained(text, **size, generator=first.manual_seed(0), output_type="latent").images for text in "03"]
    assert not torch.equal(*latents)

    generators = [torch.Generator().manual_seed(number) for number in range(2)]
    theirs = trained(config["sampling"]["prompts"], **size, generator=generators).images
    for ours, image in zip(sampled(recipe.run), theirs, strict=True):
        assert np.array_equal(np.asarray(ours), np.asarray(image))


def test_adapters_are_read_by_peft_and_change_after_a_resume(config, tmp_path):
    import peft

    config |= {"peft": {"rank": 2}, "step_scheduler": {"max_steps": 2}}
    am.run(config, route="finetune diffusion")
    first = load_file(tmp_path / "run/step-2/adapter_model.safetensors")
    config |= {"restore_from": {"path": "latest"}, "step_scheduler": {"max_steps": 4}}
    recipe = am.run(config, route="finetune diffusion")
    second = load_file(tmp_path / "run/step-4/adapter_model.safetensors")
    assert any(not torch.equal(first[key], second[key]) for key in first)

    torch.manual_seed(42)
    plain = UNet2DModel.from_config(LABELLED_UNET)
    theirs = peft.PeftModel.from_pretrained(plain, tmp_path / "run/step-4").eval()
    noisy, time, labels = torch.randn(2, 1, 8, 8), torch.tensor([100.0, 700.0]), torch.tensor([0, 3])
    with torch.no_grad():
        ours = recipe.run.model.eval()(noisy, time, class_labels=labels).sample
        assert torch.allclose(theirs(noisy, time, class_labels=labels).sample, ours, atol=1e-6)


BROKEN = {
    "no scheme": (lambda c: c.pop("parallel_scheme"), "the section `parallel_scheme` is missing"),
    "megatron": (
        lambda c: c["parallel_scheme"]["unet"].update(strategy="megatron_fsdp"),
        "`parallel_scheme.unet.strategy` must be `fsdp2` or `ddp` (`megatron_fsdp` wraps one whole model",
    ),
    "a component of no pipeline": (
        lambda c: c["parallel_scheme"].update(unett={"strategy": "ddp"}),
        "unknown key `unett` in `parallel_scheme`",
    ),
    "a component of another pipeline": (
        lambda c: c["parallel_scheme"].update(vae={"strategy": "ddp"}),
        "`parallel_scheme` names `vae`, which the pipeline does not have",
    ),
    "not the one that trains": (
        lambda c: c.update(parallel_scheme={}),
        "`parallel_scheme` does not say how `unet`, which trains, is spread",
    ),
    "too many ranks": (lambda c: c["parallel_scheme"]["unet"].update(dp_size=8), "is 8, and the run has 1 process"),
    "distributed": (lambda c: c.update(distributed={"strategy": "ddp"}), "`distributed` has no meaning for a pipeline"),
    "another denoiser": (
        lambda c: c["model"]["unet"].update(_class_name="FluxTransformer2DModel"),
        "the denoiser `FluxTransformer2DModel` cannot be trained yet",
    ),
    "a key it lacks": (lambda c: c["model"]["unet"].update(layer_per_block=2), "no key `layer_per_block`"),
    "a noise scheduler": (
        lambda c: c["model"].update(scheduler={"_class_name": "DDIMScheduler"}),
        "`DDIMScheduler` does not follow a flow",
    ),
    "another size": (lambda c: c["dataset"].update(size=6), "takes 1 x 8 x 8, and the data are 1 x 6 x 6"),
    "a class too many": (lambda c: c.update(sampling={"labels": [4]}), "has class 4, and the denoiser knows 4"),
    "prompts for labels": (lambda c: c.update(sampling={"prompts": ["x"]}), "`sampling.prompts` has no meaning"),
    "captions for labels": (
        lambda c: c["dataset"].update(label=None, caption="caption"),
        "is told a label, and the data have captions",
    ),
    "a loss": (lambda c: c.update(loss_fn={"_target_": "torch.nn.MSELoss"}), "flow matching has one loss"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_work_is_said_with_its_place_and_no_traceback(config, tmp_path, automodel, case):
    change, says = BROKEN[case]
    change(config)
    (tmp_path / "cfg.yaml").write_text(json.dumps(config, indent=1))
    code, _, err = automodel("pretrain", "diffusion", "-c", tmp_path / "cfg.yaml")
    assert code == 2, err
    assert says in err
    assert "cfg.yaml:" in err
    assert "help: " in err or " must be " in err
    assert "Traceback" not in err
    assert not list(tmp_path.glob("run/step-*"))


@pytest.mark.parametrize("peft", [None, {"rank": 2}])
def test_a_pipeline_from_scratch_stays_loadable_when_it_is_trained_on(config, tmp_path, automodel, peft):
    first = copy.deepcopy(config)
    am.run(first, route="pretrain diffusion")
    source = sorted(tmp_path.glob("run/step-*"))[-1]
    config["model"] = {"_target_": "NeMoAutoDiffusionPipeline", "name_or_path": str(source)}
    config["checkpoint"] = {"directory": str(tmp_path / "again")}
    if peft is not None:
        config["peft"] = peft
    am.run(config, route="finetune diffusion")
    result = sorted(tmp_path.glob("again/step-*"))[-1]
    if peft is not None:
        code, _, err = automodel("checkpoint", "merge", result, tmp_path / "merged")
        assert code == 0, err
        result = tmp_path / "merged"
    assert sampled_by_diffusers(result)


def test_a_class_too_many_is_shown_where_it_is_asked_for(config):
    config["sampling"] = {"labels": [1, 4]}
    with pytest.raises(am.InputError, match=r"`sampling\.labels` has class 4") as error:
        am.run(config, route="finetune diffusion")
    assert "sampling" in str(error.value.diagnostics[0].span.text)


def test_a_pipeline_without_one_of_its_components_is_refused(latents, dit, tmp_path):
    shutil.copytree(dit, tmp_path / "incomplete")
    shutil.rmtree(tmp_path / "incomplete/vae")
    latents["model"] = {"_target_": "NeMoAutoDiffusionPipeline", "name_or_path": str(tmp_path / "incomplete")}
    with pytest.raises(am.InputError, match="a pipeline that diffusers cannot load") as error:
        am.run(latents, route="finetune diffusion")
    assert error.value.diagnostics[0].code == "AM471"


@pytest.mark.parametrize(
    ("section", "values"),
    [("flow_matching", {"shift": 3.0}), ("flow_matching", {"condition_dropout": 0.3}), ("ema", {"decay": 0.5})],
)
def test_a_resumed_run_keeps_what_it_learns(config, tmp_path, section, values):
    am.run(config, route="pretrain diffusion")
    step = sorted(tmp_path.glob("run/step-*"))[0]
    changed = {**config, section: {**config.get(section, {}), **values}, "restore_from": {"path": str(step)}}
    with pytest.raises(am.InputError, match="would change what the run learns") as error:
        am.run(changed, route="pretrain diffusion")
    assert {problem.code for problem in error.value.diagnostics} == {"AM508"}


def test_a_size_that_the_denoiser_cannot_take_is_refused(latents, dit, tmp_path):
    for size, says in ((7, "the autoencoder divides the edge by 2"), (2, "cannot take samples of this size")):
        latents["dataset"]["size"] = size
        with pytest.raises(am.InputError, match=says) as error:
            am.run(latents, route="finetune diffusion")
        assert error.value.diagnostics[0].code == "AM477"


@pytest.mark.parametrize(
    ("sampling", "code"),
    [({"labels": [-1]}, "AM143"), ({"labels": [5000]}, "AM474"), ({"num_inference_steps": 5000}, "AM472")],
)
def test_sampling_that_cannot_be_done_is_refused_before_it_is_tried(latents, dit, sampling, code):
    latents["sampling"] = {"labels": [1], **sampling}
    with pytest.raises(am.InputError) as error:
        am.run(latents, route="generate diffusion")
    assert [problem.code for problem in error.value.diagnostics] == [code]


def test_samples_are_not_written_over_a_file(config, tmp_path, automodel):
    (tmp_path / "file").write_text("")
    config["sampling"] = {"labels": [1], "num_inference_steps": 2, "output": str(tmp_path / "file")}
    (tmp_path / "cfg.yaml").write_text(json.dumps(config, indent=1))
    code, _, err = automodel("generate", "diffusion", "-c", tmp_path / "cfg.yaml")
    assert code == 2, err
    assert "[AM520]" in err
    assert "cfg.yaml:" in err


def test_a_directory_that_is_no_pipeline_is_refused(config, tmp_path):
    (tmp_path / "empty").mkdir()
    config["model"] = {"_target_": "NeMoAutoDiffusionPipeline", "name_or_path": str(tmp_path / "empty")}
    with pytest.raises(am.InputError, match=r"has no `model_index\.json`: it is no pipeline"):
        am.run(config, route="finetune diffusion")


def test_a_pipeline_of_the_python_door_is_one_of_diffusers(dit):
    from automodel_diffusion.models.pipeline import AutoDiffusionPipeline

    assert type(AutoDiffusionPipeline.from_pretrained(str(dit))).__name__ == "DiTPipeline"
    made = AutoDiffusionPipeline.from_config(unet=LABELLED_UNET)
    assert made(class_labels=[0], num_inference_steps=1).images[0].size == (8, 8)


@pytest.mark.parametrize(
    ("scheduler", "says"),
    [
        ({"_class_name": "FlowMatchEulerDiscreteScheduler", "shfit": 3.0}, "has no key `shfit`"),
        ({"_class_name": "FlowMatchEulerDiscreteScheduler"}, "cannot sample"),
        (3, "must be a mapping"),
    ],
)
def test_a_scheduler_that_does_not_fit_is_refused_before_training(latents, dit, tmp_path, scheduler, says):
    latents["model"]["scheduler"] = scheduler
    latents["sampling"] = {"labels": [1], "num_inference_steps": 2}
    with pytest.raises(am.InputError, match=says):
        am.run(latents, route="finetune diffusion")
    assert not list(tmp_path.glob("run/step-*"))
