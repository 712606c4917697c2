"""What the installed plugins bring: found without importing anything heavy, asked only for what is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.diagnostics.suggest import did_you_mean
from automodel_core.errors import InputError
from automodel_core.plugins.declarations import DECLARED_TYPES, DeclarationFault, ask, schema_fault
from automodel_core.plugins.domains import RESERVED_COMMANDS
from automodel_core.plugins.grants import granted
from automodel_core.plugins.installed import SLOW_SECONDS, InstalledPlugin, load_installed_plugins
from automodel_core.plugins.layers import Layer
from automodel_core.plugins.ownership import Conflict, Owned, claim
from automodel_core.plugins.run_plugin import RunPlugin
from automodel_core.plugins.settings import DISABLE_VARIABLE, PluginSettings, normalised
from automodel_core.specs import (
    AssetSpec,
    DoctorCheck,
    KeyAlias,
    ModelSpec,
    RecipeFunctionSpec,
    RecipeSpec,
    RetiredKey,
    Route,
    SectionSpec,
    TargetSpec,
    TrustedPrefix,
)

if TYPE_CHECKING:
    from automodel_core.config.vocabulary import Vocabulary

_CORE_OWNER = "automodel-core"


class Catalog:
    """The installed plugins and their declarations.

    Each declaration is asked of each plugin when it is first needed, and once. A plugin that fails is set aside: its
    status becomes ``broken`` and everything else works; with ``settings.strict`` an :class:`InputError` is raised.
    """

    def __init__(self, plugins: Iterable[InstalledPlugin] = (), settings: PluginSettings | None = None) -> None:
        self.settings = settings or PluginSettings()
        self._plugins = list(plugins)
        self._declared: dict[str, tuple[tuple[InstalledPlugin, Any], ...]] = {}
        self._claims: dict[str, tuple[Mapping[Any, Owned[Any]], tuple[Conflict, ...]]] = {}
        self._fail_if_strict()

    @classmethod
    def discover(cls, settings: PluginSettings | None = None) -> Catalog:
        """Import the light module of every entry point of the group ``automodel.plugins``."""
        settings = PluginSettings.load() if settings is None else settings
        return cls(load_installed_plugins(settings), settings)

    @property
    def plugins(self) -> tuple[InstalledPlugin, ...]:
        """Every entry point with its status, as far as it is known by now."""
        return tuple(self._plugins)

    @property
    def routes(self) -> Mapping[tuple[str, str], Owned[Route]]:
        """Routes by command and domain, and by command and every alias of the domain."""
        return self._claimed(
            "routes",
            self._ask("routes"),
            lambda route: [(route.command, domain) for domain in (route.domain, *route.aliases)],
            what="route",
            reserved=lambda name: _CORE_OWNER if name[0] in RESERVED_COMMANDS else None,
            shown=" ".join,
        )

    @property
    def recipes(self) -> Mapping[str, Owned[RecipeSpec]]:
        """Recipe classes by name and alias."""
        return self._claimed("recipes", self._ask("recipes"), _name_and_aliases, what="recipe")

    @property
    def recipe_functions(self) -> Mapping[str, Owned[RecipeFunctionSpec]]:
        """The index of recipe functions by name."""
        return self._claimed(
            "recipe_functions", self._ask("recipe_functions"), lambda spec: [spec.name], what="recipe function"
        )

    @property
    def models(self) -> Mapping[str, Owned[ModelSpec]]:
        """Model classes by name and alias: those of :attr:`targets` that have an adapter."""
        adapted: Mapping[str, Owned[Any]] = self.targets
        return {name: owned for name, owned in adapted.items() if isinstance(owned.spec, ModelSpec)}

    @property
    def targets(self) -> Mapping[str, Owned[TargetSpec | ModelSpec]]:
        """Everything a ``_target_`` can name by a short name or an alias, models included."""
        declared = [*self._ask("models"), *self._of_type("targets", TargetSpec)]
        return self._claimed("targets", declared, lambda spec: spec.names, what="target")

    @property
    def sections(self) -> Mapping[str, Owned[SectionSpec]]:
        """The config sections that plugins add, by key."""
        return self._claimed("sections", self._ask("sections"), lambda spec: [spec.key], what="section")

    @property
    def key_aliases(self) -> Mapping[str, Owned[KeyAlias]]:
        """Other spellings of config keys, by the other spelling."""
        return self._claimed("key_aliases", self._of_type("targets", KeyAlias), lambda a: [a.old], what="key alias")

    @property
    def retired_keys(self) -> tuple[RetiredKey, ...]:
        """Keys of other systems that plugins let stand without effect."""
        return tuple(dict.fromkeys(spec for _, spec in self._of_type("targets", RetiredKey)))

    @property
    def trusted(self) -> tuple[TrustedPrefix, ...]:
        """Module prefixes that installed plugins, the project file and the user vouch for."""
        declared = [spec for _, spec in self._of_type("targets", TrustedPrefix)]
        named = [name for name in self.settings.project.trusted if not name.endswith(".py")]
        project = [TrustedPrefix(name, unless_below=self._unless_below()) for name in named]
        return tuple(dict.fromkeys([*declared, *project, *map(TrustedPrefix, granted().modules)]))

    @property
    def trusted_files(self) -> Mapping[Path, Path | None]:
        """Python files that the project file and the user vouch for, with the directory as of a prefix."""
        directory = self.settings.project.directory
        named = [name for name in self.settings.project.trusted if name.endswith(".py")]
        project = {} if directory is None else {(directory / n).resolve(): self._unless_below() for n in named}
        return {**project, **dict.fromkeys(granted().files)}

    def _unless_below(self) -> Path | None:
        """Return the directory whose configs the project file cannot vouch for, unless the user does."""
        directory = self.settings.project.directory
        return None if directory is None or granted().include(directory) else directory

    @property
    def assets(self) -> Mapping[str, Owned[AssetSpec]]:
        """The assets for quick starts."""
        return self._claimed("assets", self._ask("assets"), lambda spec: [spec.name], what="asset")

    @property
    def doctor_checks(self) -> Mapping[str, Owned[DoctorCheck]]:
        """Checks for ``automodel doctor`` by name."""
        return self._claimed("doctor_checks", self._ask("doctor_checks"), lambda spec: [spec.name], what="doctor check")

    def vocabulary(self) -> Vocabulary:
        """Return what a config may say: the core's own vocabulary and that of every usable plugin."""
        from automodel_core.config.vocabulary import core_vocabulary

        core = core_vocabulary()
        core_aliases = {alias.old: alias for alias in core.key_aliases}
        return core.with_plugins(
            sections=self._with_schemas(self._without_core_names("section", self.sections, core.sections)),
            targets=self._without_core_names("target", self.targets, core.targets),
            trusted=self.trusted,
            files=self.trusted_files,
            key_aliases=tuple(self._without_core_names("key alias", self.key_aliases, core_aliases).values()),
            retired_keys=self.retired_keys,
            section_owners={key: owned.owner for key, owned in self.sections.items()},
        )

    def ask_everything(self) -> None:
        """Ask every declaration of every plugin, so that :attr:`plugins` and :meth:`problems` are complete."""
        for kind in (
            "routes",
            "recipes",
            "recipe_functions",
            "targets",
            "sections",
            "key_aliases",
            "doctor_checks",
            "assets",
        ):
            getattr(self, kind)

    def run_plugins(self) -> tuple[RunPlugin, ...]:
        """Return the usable plugins as members of a run; they may implement builders, stages and events."""
        usable = (plugin for plugin in self.plugins if plugin.status == "ok")
        # The first of two installed plugins answers first, and pluggy asks the last registered one first.
        return tuple(RunPlugin(plugin.name, plugin.plugin, Layer.INSTALLED) for plugin in usable)[::-1]

    def problems(self) -> tuple[Diagnostic, ...]:
        """Return what is wrong with the installed plugins, as warnings, as far as it is known by now."""
        found = [_broken(plugin) for plugin in self.plugins if plugin.status == "broken"]
        found += [_contested(conflict) for _, conflicts in self._claims.values() for conflict in conflicts]
        found += [_slow(plugin) for plugin in self.plugins if plugin.seconds > SLOW_SECONDS]
        return (*found, *self._unknown_disabled())

    def _ask(self, hook: str) -> tuple[tuple[InstalledPlugin, Any], ...]:
        if hook not in self._declared:
            assert hook in DECLARED_TYPES, hook
            declared: list[tuple[InstalledPlugin, Any]] = []
            for position, plugin in enumerate(self._plugins):
                if plugin.status == "ok" and hook in plugin.hooks:
                    try:
                        declared.extend((plugin, spec) for spec in ask(plugin.plugin, hook))
                    except DeclarationFault as fault:
                        self._plugins[position] = plugin.broken(str(fault))
            self._declared[hook] = tuple(declared)
            self._fail_if_strict()
        return self._declared[hook]

    def _of_type(self, hook: str, kind: type) -> tuple[tuple[InstalledPlugin, Any], ...]:
        return tuple((plugin, spec) for plugin, spec in self._ask(hook) if isinstance(spec, kind))

    def _claimed(self, kind: str, declared: Any, names: Any, **options: Any) -> Mapping[Any, Owned[Any]]:
        if kind not in self._claims:
            self._claims[kind] = claim(declared, names, **options)
            self._fail_if_strict()
        return self._claims[kind][0]

    def _with_schemas(self, sections: Mapping[str, SectionSpec]) -> dict[str, SectionSpec]:
        """Return the sections whose schema can be imported; the plugin of one that cannot is set aside."""
        faults = {key: fault for key, spec in sections.items() if (fault := schema_fault(spec)) is not None}
        for key, fault in faults.items():
            owner = self.sections[key].plugin
            self._plugins = [plugin.broken(fault) if plugin.name == owner else plugin for plugin in self._plugins]
        self._fail_if_strict()
        return {key: spec for key, spec in sections.items() if key not in faults}

    def _without_core_names(
        self, what: str, owned: Mapping[str, Owned[Any]], core: Mapping[str, Any]
    ) -> dict[str, Any]:
        taken = [name for name in owned if name in core]
        conflicts = [Conflict(what, n, _CORE_OWNER, owned[n].owner, owned[n].plugin) for n in taken]
        self._claims[f"core {what}"] = ({}, tuple(conflicts))
        self._fail_if_strict()
        return {name: entry.spec for name, entry in owned.items() if name not in core}

    def _fail_if_strict(self) -> None:
        if self.settings.strict:
            failures = [attrs.evolve(d, severity="error") for d in self.problems() if d.code in ("AM601", "AM602")]
            if failures:
                raise InputError(failures)

    def _unknown_disabled(self) -> list[Diagnostic]:
        known = {name for plugin in self.plugins for name in (plugin.name, plugin.distribution)}
        spellings = {normalised(name) for name in known}
        return [
            Diagnostic(
                "AM604",
                f"`{name}` is disabled but no such plugin is installed",
                helps=did_you_mean(name, known),
                severity="warning",
            )
            for name in sorted(self.settings.disabled)
            if normalised(name) not in spellings
        ]


def _name_and_aliases(spec: Any) -> list[str]:
    return [spec.name, *spec.aliases]


def _broken(plugin: InstalledPlugin) -> Diagnostic:
    return Diagnostic(
        "AM601",
        f"{plugin.owner} is broken and was set aside: {plugin.error}",
        helps=(f"repair or uninstall {plugin.distribution}, or set {DISABLE_VARIABLE}={plugin.name}",),
        severity="warning",
    )


def _contested(conflict: Conflict) -> Diagnostic:
    helps = (f"switch one of them off, for example with {DISABLE_VARIABLE}={conflict.loser_plugin}",)
    return Diagnostic("AM602", str(conflict), helps=helps, severity="warning")


def _slow(plugin: InstalledPlugin) -> Diagnostic:
    return Diagnostic(
        "AM603",
        f"{plugin.owner} took {plugin.seconds:.1f} s to import",
        helps=("its entry point should be a light module that imports nothing heavy",),
        severity="warning",
    )
