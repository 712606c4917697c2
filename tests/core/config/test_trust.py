"""A config cannot name its way to running anything."""

from __future__ import annotations

import sys

import pytest

from automodel_core.config import Component, Vocabulary, core_vocabulary, load_run_config, resolve_target
from automodel_core.config.trust import target_problem
from automodel_core.errors import InputError
from automodel_core.specs import TrustedPrefix

NEVER = [
    *("os.system", "os.path.join", "posix.system", "builtins.eval", "builtins.exec", "builtins.open", "sys.exit"),
    *("subprocess.run", "shutil.rmtree", "importlib.import_module", "runpy.run_path", "ctypes.CDLL"),
    *("pickle.load", "pickle.loads", "_pickle.loads", "dill.load", "cloudpickle.loads", "joblib.load", "marshal.loads"),
    *(
        "torch.load",
        "torch.serialization.load",
        "torch.jit.load",
        "torch.hub.load",
        "torch.hub.load_state_dict_from_url",
    ),
    *("torch.utils.cpp_extension.load", "torch.utils.cpp_extension.load_inline", "torch.package.PackageImporter"),
    *("torch.ops.load_library", "numpy.load", "pandas.read_pickle"),
]


def refusal(target: str, vocabulary: Vocabulary) -> str:
    """Return the code with which resolving a target is refused."""
    with pytest.raises(InputError) as raised:
        resolve_target(Component(target), vocabulary)
    (found,) = raised.value.diagnostics
    return found.code


@pytest.mark.parametrize("target", NEVER)
def test_nobody_can_vouch_for_loaders_of_code_and_pickles(target: str) -> None:
    root = target.partition(".")[0]
    vouched = core_vocabulary().with_plugins(trusted=(TrustedPrefix(root),))
    assert refusal(target, vouched) == "AM204"
    assert refusal(target, core_vocabulary()) == "AM204"


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("config_test_parts.os.system", "AM204"),
        ("config_test_parts.os.path.join", "AM204"),
        ("config_test_parts.launch", "AM204"),
        ("config_test_parts.wrapped_launch", "AM204"),
        ("config_test_parts.dedent", "AM203"),
        ("config_test_parts.functools.reduce", "AM204"),
        ("config_test_parts.Model.__init__", "AM204"),
        ("config_test_parts.Model.__class__", "AM204"),
        ("config_test_parts.Model.__init__.__globals__", "AM204"),
        ("config_test_parts", "AM203"),
    ],
)
def test_a_trusted_module_does_not_vouch_for_what_it_imports(target: str, code: str, vocabulary: Vocabulary) -> None:
    assert refusal(target, vocabulary) == code


def test_a_partial_of_a_trusted_function_is_fine(vocabulary: Vocabulary, parts: str) -> None:
    assert resolve_target(Component(f"{parts}.tripled"), vocabulary)() == ("scale", 3.0)


def test_an_untrusted_target_is_not_imported_and_says_how_to_allow_it(vocabulary: Vocabulary) -> None:
    sys.modules.pop("antigravity", None)
    with pytest.raises(InputError) as raised:
        load_run_config({"dataset": {"_target_": "antigravity.fly"}}, (), vocabulary, required=())
    (found,) = raised.value.diagnostics
    assert found.code == "AM203"
    assert 'trusted = ["antigravity"]' in found.helps[-1]
    assert "antigravity" not in sys.modules


def test_a_nested_target_is_held_to_the_same_rule(vocabulary: Vocabulary) -> None:
    data = {"_target_": "tiny.Dataset", "transform": [{"x": {"_target_": "os.system", "command": "true"}}]}
    with pytest.raises(InputError) as raised:
        load_run_config({"dataset": data}, (), vocabulary, required=())
    assert [d.code for d in raised.value.diagnostics] == ["AM204"]


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [
        ("nemo_automodel.models.llm.NemotronHForCausal", "AM210", "NemotronHForCausalLM"),
        ("nemo_automodel.elsewhere.SquadDataset", "AM210", "nemo_automodel.datasets.squad.SquadDataset"),
        ("AdamWW", "AM203", "`AdamW`"),
        ("torch.optm.AdamW", "AM203", "`torch.optim.AdamW`"),
        ("my_package.Thing", "AM203", "my_package"),
        ("not a name", "AM202", "dotted name"),
        ("a..b", "AM202", "dotted name"),
        ("a.b()", "AM202", "dotted name"),
        ("__import__", "AM204", ""),
        ("transformers.pipeline", "AM203", ""),
        ("transformers.utils.import_utils.from_pretrained_x", "AM203", ""),
    ],
)
def test_a_name_that_is_not_known_is_refused_with_the_nearest(
    target: str, code: str, words: str, vocabulary: Vocabulary
) -> None:
    found = target_problem(target, None, vocabulary)
    assert found is not None
    assert found.code == code
    assert words in " ".join((found.message, *found.helps))


@pytest.mark.parametrize(
    "target",
    [
        "torch.optim.AdamW",
        "AdamW",
        "torch.optim.lr_scheduler.CosineAnnealingLR",
        "torch.nn.CrossEntropyLoss",
        "torch.nn.functional.gelu",
        "torch.nn.functional.conv2d",
        "torch.nn.utils.clip_grad_norm_",
    ],
)
def test_the_core_vouches_for_optimizers_schedulers_modules_and_losses(target: str) -> None:
    assert callable(resolve_target(Component(target), core_vocabulary()))


@pytest.mark.parametrize(
    "target",
    ["torch.nn.modules.module.torch.load", "torch.optim.adam.torch.hub.load", "torch.nn.functional.torch.load"],
)
def test_torch_is_not_reached_through_its_own_submodules(target: str) -> None:
    assert refusal(target, core_vocabulary()) == "AM204"


def test_pretrained_loaders_of_the_fields_libraries_are_trusted_by_name() -> None:
    assert target_problem("transformers.AutoModelForCausalLM.from_pretrained", None, core_vocabulary()) is None
    assert target_problem("diffusers.AutoencoderKL.from_config", None, core_vocabulary()) is None


@pytest.mark.parametrize(
    "target",
    [
        "transformers.get_cosine_schedule_with_warmup",
        "transformers.Adafactor",
        "torch.utils.data.TensorDataset",
        "torch.utils.data.ConcatDataset",
        "torch.optim.lr_scheduler.OneCycleLR",
        "torch.nn.functional.cross_entropy",
        "transformers.AutoTokenizer.from_pretrained",
        "diffusers.AutoencoderKL.from_config",
    ],
)
def test_what_the_core_vouches_for_is_there(target: str) -> None:
    assert callable(resolve_target(Component(target), core_vocabulary()))


@pytest.mark.parametrize(
    "target",
    [
        *("torch.utils.data.datapipes.utils.decoder.basichandlers", "torch.utils.data.datapipes.iter.FileOpener"),
        *("torch.utils.data.dataloader.DataLoader", "torch.utils.data.random_split", "torch.utils.dlpack.from_dlpack"),
        *("transformers.pipeline", "transformers.dynamic_module_utils.get_class_from_dynamic_module"),
        *("transformers.AutoModel.register", "transformers.trainer.Trainer", "transformers.AutoModel"),
        *(
            "diffusers.DiffusionPipeline.download",
            "diffusers.utils.dynamic_modules_utils.get_class_from_dynamic_module",
        ),
        *("datasets.load_dataset", "datasets.load_from_disk", "datasets.Dataset.from_generator"),
        *("torchdata.nodes.Loader", "torch.compile", "torch.save", "torch.from_file", "torch._dynamo.optimize"),
    ],
)
def test_what_could_load_code_or_pickles_is_not_vouched_for(target: str) -> None:
    found = target_problem(target, None, core_vocabulary())
    assert found is not None
    assert found.code in ("AM203", "AM204")


@pytest.mark.parametrize(
    ("arguments", "key"),
    [({"custom_pipeline": "./code"}, "custom_pipeline"), ({"weights_only": False}, "weights_only")],
)
def test_arguments_that_load_code_or_pickles_are_refused(arguments: dict[str, object], key: str) -> None:
    section = {"_target_": "diffusers.DiffusionPipeline.from_pretrained", **arguments}
    with pytest.raises(InputError) as raised:
        load_run_config({"model": section}, (), core_vocabulary(), required=())
    (found,) = raised.value.diagnostics
    assert found.code == "AM215"
    assert f"`{key}`" in found.message
    assert found.span is not None
    harmless = {"_target_": section["_target_"], "weights_only": True, "custom_pipeline": None}
    load_run_config({"model": harmless}, (), core_vocabulary(), required=())


def test_short_names_are_listed_when_none_is_close() -> None:
    found = target_problem("Zzz", None, core_vocabulary())
    assert found is not None
    assert found.helps[0].startswith("the short names are `Adam`, `AdamW`, `CosineAnnealingWarmup`")


@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        ("transformers.LlamaConfig", True),
        ("transformers.models.qwen3_moe.configuration_qwen3_moe.Qwen3MoeConfig", True),
        ("transformers.models.llama.modeling_llama.LlamaForCausalLM", False),
        ("transformers.utils.hub.cached_file", False),
        ("transformers.Config.load", False),
    ],
)
def test_configurations_of_transformers_may_be_made_and_nothing_else_of_it(target: str, allowed: bool) -> None:
    assert (target_problem(target, None, core_vocabulary()) is None) == allowed
