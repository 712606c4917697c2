"""Installed plugins: a broken one is named and set aside, and everything else works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from automodel_core.errors import InputError
from automodel_core.plugins import Catalog, InstalledPlugin, PluginSettings
from automodel_core.specs import SectionSpec, TrustedPrefix

InstallPlugin = Callable[..., Path]

IMPORTS = "from automodel_core.hookspecs import hookimpl\nfrom automodel_core.specs import *\n"

AUDIO = (
    IMPORTS
    + """
@hookimpl
def routes():
    yield Route("finetune", "audio", "audio_recipe", "Fine-tune an audio model.", aliases=("sound",))

@hookimpl
def targets():
    return [TargetSpec("audio.Clips", "audio.data:Clips", "dataset", aliases=("Clips",)), TrustedPrefix("audio")]

@hookimpl
def sections():
    return (SectionSpec("spectrogram", "audio.config:Spectrogram", "Windows and bins."),)
"""
)


def discover(**settings: object) -> Catalog:
    return Catalog.discover(PluginSettings(**settings))  # type: ignore[arg-type]


def plugin_named(catalog: Catalog, name: str) -> InstalledPlugin:
    return next(plugin for plugin in catalog.plugins if plugin.name == name)


def test_what_a_plugin_declares_is_found_under_every_name(install_plugin: InstallPlugin) -> None:
    install_plugin("audio", AUDIO)
    catalog = discover()
    assert catalog.routes["finetune", "audio"] == catalog.routes["finetune", "sound"]
    assert catalog.routes["finetune", "audio"].distribution == "automodel-audio"
    assert catalog.targets["Clips"].spec.target == "audio.data:Clips"
    assert catalog.sections["spectrogram"].spec == SectionSpec(
        "spectrogram", "audio.config:Spectrogram", "Windows and bins."
    )
    assert TrustedPrefix("audio") in catalog.trusted
    assert plugin_named(catalog, "audio").hooks == ("routes", "sections", "targets")
    assert catalog.problems() == ()


BROKEN = {
    "raises on import": ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
    "leaves on import": ("import sys\nsys.exit(3)", "SystemExit: 3"),
    "syntax error": ("def routes(:\n", "SyntaxError"),
    "missing import": ("import a_module_that_is_not_there", "ModuleNotFoundError"),
    "raises in a declaration": (
        IMPORTS + "@hookimpl\ndef routes():\n    raise KeyError('x')",
        "`routes` raised KeyError",
    ),
    "raises in a generator": (
        IMPORTS + "@hookimpl\ndef routes():\n    yield Route('a', 'b', 'c', 'd')\n    raise KeyError('x')",
        "`routes` raised KeyError",
    ),
    "leaves in a declaration": (IMPORTS + "@hookimpl\ndef routes():\n    exit(1)", "`routes` raised SystemExit"),
    "returns nothing": (IMPORTS + "@hookimpl\ndef routes():\n    pass", "returned `None`, not an iterable of `Route`"),
    "returns a string": (IMPORTS + "@hookimpl\ndef routes():\n    return 'routes'", "returned `'routes'`"),
    "returns one spec": (
        IMPORTS + "@hookimpl\ndef routes():\n    return Route('a', 'b', 'c', 'd')",
        "not an iterable of `Route`",
    ),
    "returns other specs": (
        IMPORTS + "@hookimpl\ndef routes():\n    return [SectionSpec('a')]",
        "among its items, not `Route`",
    ),
    "aliases are a string": (
        IMPORTS + "@hookimpl\ndef routes():\n    return [Route('a', 'b', 'c', 'd', 'alias')]",
        "`'alias'` as `aliases` of a `Route`, not tuple[str, ...]",
    ),
    "a command is no string": (
        IMPORTS + "@hookimpl\ndef routes():\n    return [Route(3, 'b', 'c', 'd')]",
        "`3` as `command` of a `Route`, not str",
    ),
    "misspelled hook": (IMPORTS + "@hookimpl\ndef rutes():\n    return ()", "did you mean `routes`"),
    "missing decorator": ("def routes():\n    return ()", "`routes` has the name of a hook but no `@hookimpl`"),
    "argument of a declaration": (IMPORTS + "@hookimpl\ndef routes(config):\n    return ()", "takes `config`"),
    "tryfirst": (IMPORTS + "@hookimpl(tryfirst=True)\ndef routes():\n    return ()", "sets `tryfirst`"),
    "wrapper": (IMPORTS + "@hookimpl(wrapper=True)\ndef routes():\n    yield", "wrapper around a declaration"),
}


@pytest.mark.parametrize(("source", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_is_set_aside_with_the_reason(install_plugin: InstallPlugin, source: str, reason: str) -> None:
    install_plugin("bad", source)
    install_plugin("audio", AUDIO)
    catalog = discover()

    assert ("finetune", "audio") in catalog.routes
    assert not any(owned.plugin == "bad" for owned in catalog.routes.values())
    bad = plugin_named(catalog, "bad")
    assert (bad.status, bad.distribution, bad.version) == ("broken", "automodel-bad", "1.0")
    assert reason in bad.error
    assert "bad" not in [member.name for member in catalog.run_plugins()]
    (problem,) = catalog.problems()
    assert (problem.code, problem.severity) == ("AM601", "warning")
    assert "plugin `bad` (automodel-bad 1.0) is broken" in problem.message


@pytest.mark.parametrize(("source", "reason"), BROKEN.values(), ids=BROKEN)
def test_strict_plugins_turn_a_broken_one_into_an_error_with_the_same_text(
    install_plugin: InstallPlugin, source: str, reason: str
) -> None:
    install_plugin("bad", source)
    lenient = discover()
    lenient.ask_everything()
    with pytest.raises(InputError) as caught:
        discover(strict=True).ask_everything()
    assert [d.message for d in caught.value.diagnostics] == [d.message for d in lenient.problems()]
    assert reason in caught.value.diagnostics[0].message


def test_a_disabled_plugin_is_not_imported(install_plugin: InstallPlugin) -> None:
    install_plugin("bad", "raise RuntimeError")
    for name in ("bad", "automodel-bad", "Automodel_Bad"):
        catalog = discover(disabled=frozenset({name}))
        assert plugin_named(catalog, "bad").status == "disabled"
        assert catalog.problems() == ()


def test_disabling_a_plugin_that_is_not_there_is_said(install_plugin: InstallPlugin) -> None:
    install_plugin("audio", AUDIO)
    (problem,) = discover(disabled=frozenset({"audoi"})).problems()
    assert problem.code == "AM604"
    assert problem.helps == ("did you mean `audio`?",)


def route_of(domain: str, command: str = "finetune", recipe: str = "recipe") -> str:
    return IMPORTS + f"@hookimpl\ndef routes():\n    return [Route({command!r}, {domain!r}, {recipe!r}, 'text')]"


def test_two_owners_of_a_route_are_both_named_and_the_first_keeps_it(install_plugin: InstallPlugin) -> None:
    install_plugin("beta", route_of("audio", recipe="second"))
    install_plugin("alpha", route_of("audio", recipe="first"))
    catalog = discover()
    assert catalog.routes["finetune", "audio"].plugin == "alpha"
    (problem,) = catalog.problems()
    assert problem.code == "AM602"
    assert "`finetune audio`" in problem.message
    assert "plugin `alpha` (automodel-alpha 1.0)" in problem.message
    assert "plugin `beta` (automodel-beta 1.0)" in problem.message
    with pytest.raises(InputError, match="finetune audio"):
        _ = discover(strict=True).routes


def test_our_own_domains_keep_their_routes_from_a_plugin_that_sorts_first(install_plugin: InstallPlugin) -> None:
    install_plugin("aaa", route_of("llm"), distribution="aaa-hijack")
    catalog = discover()
    assert catalog.routes["finetune", "llm"].distribution == "automodel-llm"


def test_a_route_cannot_take_the_place_of_a_tool(install_plugin: InstallPlugin) -> None:
    install_plugin("grabby", route_of("list", command="plugins"))
    catalog = discover()
    assert ("plugins", "list") not in catalog.routes
    assert "automodel-core" in catalog.problems()[0].message


def test_a_model_and_a_target_share_their_names(install_plugin: InstallPlugin) -> None:
    install_plugin("alpha", IMPORTS + "@hookimpl\ndef models():\n    return [ModelSpec('m.A', 'm:A', 'm:Adapter')]")
    install_plugin(
        "beta", IMPORTS + "@hookimpl\ndef targets():\n    return [TargetSpec('m.B', 'm:B', 'model', ('m.A',))]"
    )
    catalog = discover()
    assert catalog.targets["m.A"].plugin == "alpha"
    assert set(catalog.models) >= {"m.A"}
    assert "m.B" in catalog.targets
    assert "m.B" not in catalog.models
    assert [p.code for p in catalog.problems()] == ["AM602"]


def test_the_same_distribution_seen_twice_is_no_conflict(
    install_plugin: InstallPlugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editable install leaves an egg-info beside the dist-info of the wheel."""
    install_plugin("audio", AUDIO)
    egg = tmp_path / "source" / "automodel_audio.egg-info"
    egg.mkdir(parents=True)
    (egg / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: automodel_audio\nVersion: 1.0\n")
    (egg / "entry_points.txt").write_text("[automodel.plugins]\naudio = audio_plugin\n")
    monkeypatch.syspath_prepend(str(egg.parent))
    catalog = discover()
    assert [plugin.name for plugin in catalog.plugins].count("audio") == 1
    assert ("finetune", "audio") in catalog.routes
    assert catalog.problems() == ()


def test_two_distributions_with_one_plugin_name_are_both_named(install_plugin: InstallPlugin) -> None:
    directory = install_plugin("audio", AUDIO, distribution="one")
    extra = directory / "two-1.0.dist-info"
    extra.mkdir()
    (extra / "METADATA").write_text("Metadata-Version: 2.1\nName: two\nVersion: 1.0\n")
    (extra / "entry_points.txt").write_text("[automodel.plugins]\naudio = audio_plugin\n")
    (problem,) = discover().problems()
    assert "plugin `audio` (two 1.0) is broken" in problem.message
    assert "already belongs to plugin `audio` (one 1.0)" in problem.message


def test_only_what_is_needed_is_asked(install_plugin: InstallPlugin) -> None:
    """A plugin whose targets are broken still brings its routes to the help."""
    install_plugin("half", AUDIO.replace("return [TargetSpec", "raise ValueError('later') or [TargetSpec"))
    catalog = discover()
    assert ("finetune", "audio") in catalog.routes
    assert catalog.problems() == ()
    _ = catalog.targets
    assert [p.code for p in catalog.problems()] == ["AM601"]


def test_what_a_plugin_prints_does_not_reach_stdout(
    install_plugin: InstallPlugin, capsys: pytest.CaptureFixture[str]
) -> None:
    install_plugin("chatty", "print('hello')\n" + AUDIO.replace("    yield", "    print('routes')\n    yield"))
    _ = discover().routes
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.split() == ["hello", "routes"]


def test_an_interrupt_during_an_import_names_the_plugin(install_plugin: InstallPlugin) -> None:
    install_plugin("slow", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt) as caught:
        discover()
    assert caught.value.__notes__ == ["while importing plugin `slow` (automodel-slow 1.0)"]


def test_a_slow_import_is_reported() -> None:
    catalog = Catalog([InstalledPlugin("slow", "automodel-slow", "1.0", "slow_plugin", seconds=2.5)])
    (problem,) = catalog.problems()
    assert problem.code == "AM603"
    assert "took 2.5 s" in problem.message


def test_the_vocabulary_has_what_plugins_and_the_core_bring(install_plugin: InstallPlugin) -> None:
    install_plugin("audio", AUDIO.replace("audio.config:Spectrogram", "automodel_core.config.sections:Rng"))
    words = discover().vocabulary()
    assert words.sections["spectrogram"].schema == "automodel_core.config.sections:Rng"
    assert "step_scheduler" in words.sections
    assert words.targets["Clips"] is words.targets["audio.Clips"]
    assert TrustedPrefix("audio") in words.trusted


def test_a_section_of_the_core_cannot_be_replaced(install_plugin: InstallPlugin) -> None:
    install_plugin(
        "grabby", IMPORTS + "@hookimpl\ndef sections():\n    return [SectionSpec('optimizer', 'grabby:Optimizer')]"
    )
    catalog = discover()
    assert catalog.vocabulary().sections["optimizer"].component
    (problem,) = catalog.problems()
    assert problem.code == "AM602"
    assert "automodel-core" in problem.message


def test_an_installed_plugin_may_implement_builders_of_every_run(install_plugin: InstallPlugin) -> None:
    from automodel_core.plugins import run_host

    install_plugin("audio", IMPORTS + "@hookimpl\ndef build_loss_fn():\n    return 'installed'")
    host = run_host(None, catalog=discover(), core_plugins=[])
    assert host.maybe("build_loss_fn", config=None) == "installed"
