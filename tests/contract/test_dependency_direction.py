"""Who may import whom, read from the imports themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).parents[2]
DOMAINS = ("automodel_llm", "automodel_vlm", "automodel_diffusion", "automodel_retrieval")
OURS = ("automodel_core", *DOMAINS)


@attrs.frozen
class Module:
    """A source file of ours: its dotted ``name`` and its parsed ``tree``."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def package(self) -> str:
        return self.name.partition(".")[0]

    @property
    def room(self) -> str:
        return self.name.split(".")[1] if "." in self.name else "__init__"


def _modules() -> list[Module]:
    found = []
    for source in sorted(ROOT.glob("packages/*/src")):
        for path in sorted(source.rglob("*.py")):
            parts = path.relative_to(source).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found.append(Module(name, path, ast.parse(path.read_text(encoding="utf-8"))))
    return found


MODULES = _modules()


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _walk(node: ast.AST, *, lazy: bool, types: bool) -> Iterator[ast.AST]:
    """Yield the nodes below ``node``; with ``lazy`` also those in functions, with ``types`` those for type checkers."""
    for child in ast.iter_child_nodes(node):
        if not types and _is_type_checking(child):
            assert isinstance(child, ast.If)
            for other in child.orelse:
                yield from _walk(other, lazy=lazy, types=types)
            continue
        if not lazy and isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        yield child
        yield from _walk(child, lazy=lazy, types=types)


def imports(module: Module, *, lazy: bool = True, types: bool = False) -> Iterator[tuple[str, int]]:
    """Yield the dotted names that ``module`` imports, with their lines; ``from a import b`` gives ``a.b``."""
    for node in _walk(module.tree, lazy=lazy, types=types):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.path}:{node.lineno}: relative import"
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def _below(name: str, *roots: str) -> bool:
    return any(name == root or name.startswith(f"{root}.") for root in roots)


def _violations(modules: list[Module], refused: object, **options: bool) -> list[str]:
    assert callable(refused)
    return [
        f"{module.path.relative_to(ROOT)}:{line} imports {name}"
        for module in modules
        for name, line in imports(module, **options)
        if refused(module, name)
    ]


CORE = [module for module in MODULES if module.package == "automodel_core"]


def test_there_is_something_to_check() -> None:
    assert {module.package for module in MODULES} == set(OURS)
    assert ("automodel_core.errors", "InputError") in {
        tuple(name.rsplit(".", 1)) for module in CORE for name, _ in imports(module)
    }


def test_core_imports_no_domain() -> None:
    assert _violations(CORE, lambda module, name: _below(name, *DOMAINS), types=True) == []


def test_only_the_adapters_of_core_import_a_model_library() -> None:
    outside = [module for module in CORE if module.room != "adapters"]
    libraries = ("transformers", "diffusers", "peft", "sentence_transformers", "huggingface_hub")
    assert _violations(outside, lambda module, name: _below(name, *libraries), types=True) == []


def test_core_never_imports_its_adapters() -> None:
    """Domains name them in ``models()``; then core runs without the library behind them."""
    outside = [module for module in CORE if module.room != "adapters"]
    assert _violations(outside, lambda module, name: _below(name, "automodel_core.adapters"), types=True) == []


def test_domains_import_core_and_only_vlm_imports_another_domain() -> None:
    def refused(module: Module, name: str) -> bool:
        others = set(DOMAINS) - {module.package}
        if module.package == "automodel_vlm":
            others -= {"automodel_llm"}
        return _below(name, *others)

    assert _violations([m for m in MODULES if m.package in DOMAINS], refused, types=True) == []


def test_vlm_uses_only_public_names_of_llm() -> None:
    vlm = [module for module in MODULES if module.package == "automodel_vlm"]
    private = lambda module, name: _below(name, "automodel_llm") and "._" in name  # noqa: E731
    assert _violations(vlm, private) == []


ROOMS_BELOW = {
    "errors": (),
    "specs": (),
    "hookspecs": ("hookspecs",),
    "diagnostics": ("diagnostics", "errors", "specs"),
    "plugins": ("plugins", "diagnostics", "hookspecs", "errors", "specs", "config"),
    "config": ("config", "plugins", "layout", "diagnostics", "hookspecs", "errors", "specs", "cache"),
    "model_files": ("model_files", "diagnostics", "errors"),
    "preflight": (
        "preflight",
        "config",
        "plugins",
        "checkpoint",
        "data",
        "model_files",
        "diagnostics",
        "errors",
        "specs",
    ),
    "layout": ("layout",),
}
"""The light rooms, with the rooms that each may import when it is imported itself."""


@pytest.mark.parametrize("room", ROOMS_BELOW)
def test_a_light_room_imports_only_what_stands_below_it(room: str) -> None:
    def refused(module: Module, name: str) -> bool:
        return _below(name, "automodel_core") and name.split(".")[1] not in ROOMS_BELOW[room]

    assert _violations([m for m in CORE if m.room == room], refused, lazy=False) == []


def test_nothing_imports_the_command_line_but_itself() -> None:
    others = [m for m in MODULES if not _below(m.name, "automodel_core.cli", "automodel_core.__main__")]
    assert _violations(others, lambda module, name: _below(name, "automodel_core.cli")) == []


def _imported_names(module: Module) -> dict[str, str]:
    """Return the local names that imports bind, with what each stands for."""
    bound = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            bound |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            bound |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return bound


def _root(node: ast.expr) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _written(node: ast.AST) -> list[ast.expr]:
    """Return the expressions whose attributes ``node`` sets or deletes."""
    targets: list[ast.expr] = []
    if isinstance(node, (ast.Assign, ast.Delete)):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        targets = [node.target]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
        return node.args[:1]
    flat = [part for t in targets for part in (t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t])]
    return [target.value for target in flat if isinstance(target, ast.Attribute)]


def foreign_writes(module: Module) -> list[str]:
    """Return where ``module`` writes an attribute of something that it imported from elsewhere."""
    bound = _imported_names(module)
    return [
        f"{module.path.name}:{owner.lineno} writes to {bound[root]}"
        for node in ast.walk(module.tree)
        for owner in _written(node)
        if (root := _root(owner)) in bound and not _below(bound[root], *OURS)
    ]


def test_nobody_patches_another_distribution_outside_compat() -> None:
    writers = [module for module in MODULES if module.room != "compat"]
    assert [write for module in writers for write in foreign_writes(module)] == []


@pytest.mark.parametrize(
    "patch",
    [
        "import torch\ntorch.nn.Linear.forward = None",
        "import torch.nn as nn\nnn.Linear.forward, x = None, 1",
        "from torch.nn import Linear\nsetattr(Linear, 'forward', None)",
        "from torch import nn\ndef f():\n    del nn.Linear.forward",
        "import sys\nsys.stdout = None",
    ],
)
def test_a_patch_is_recognised(patch: str) -> None:
    assert len(foreign_writes(Module("m", Path("m.py"), ast.parse(patch)))) == 1


def test_a_file_stays_small_enough_to_hold_one_idea() -> None:
    long = {str(m.path.relative_to(ROOT)): m.path.read_text().count("\n") for m in MODULES}
    assert {path: lines for path, lines in long.items() if lines > 400} == {}
