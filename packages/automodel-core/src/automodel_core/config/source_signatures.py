"""The parameters of a callable, read from its source: nothing is imported, so that torch need not be.

What cannot be told from the source (a decorated constructor, a base that is not found, a module that fills itself)
is ``None``, and is left to the check that imports.
"""

from __future__ import annotations

import ast
import importlib.util
import os
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Union

from automodel_core.config.file_targets import file_target
from automodel_core.config.signatures import Arguments

_MOST_MODULES: Final = 16
"""So many are read for one name; a package that imports everything by `*` is not searched to its end."""
_KEEP_SIGNATURE: Final = frozenset({"classmethod", "staticmethod", "abstractmethod", "override"})
_TYPES: Final[dict[str, Any]] = {"int": int, "float": float, "str": str, "bool": bool, "None": None}
_TENSOR: Final = type("Tensor", (), {"__module__": "torch", "__qualname__": "Tensor"})
_DTYPE: Final = type("dtype", (), {"__module__": "torch", "__qualname__": "dtype"})

Definition = ast.FunctionDef | ast.ClassDef


class _Found:
    """A definition, and the module that its names are looked up in."""

    def __init__(self, node: Definition, module: str) -> None:
        self.node, self.module = node, module


def arguments_in_source(target: str) -> Arguments | None:
    """Return what ``target`` takes by keyword: a dotted name, ``"module:attribute"``, or one of a file."""
    file = file_target(target)
    module, attributes = (
        _split(target.replace(":", ".")) if file is None else (str(file.path), file.attribute.split("."))
    )
    if module is None or not attributes:
        return None
    found = _named(module, attributes[0], set())
    if found is None or len(attributes) > 2:
        return None
    if isinstance(found.node, ast.FunctionDef):
        return _of_function(found.node, skip=0) if len(attributes) == 1 else None
    method = _method(found, attributes[1] if len(attributes) == 2 else "__init__", 0)
    if method is None or (len(attributes) == 1 and _makes_its_own(found)):
        return None
    static = any(_name_of(decorator) == "staticmethod" for decorator in method.decorator_list)
    arguments = _of_function(method, skip=0 if static else 1)
    blueprint = _method(found, "blueprint", 0)
    if arguments is None or blueprint is None:
        return arguments
    return Arguments(
        arguments.parameters,
        arguments.anything,
        positional=arguments.positional,
        any_number=arguments.any_number,
        annotations={**_annotations(blueprint), **arguments.annotations},
    )


def _split(dotted: str) -> tuple[str | None, list[str]]:
    """Return the longest beginning of a dotted name that is a module, and the names that remain."""
    parts = dotted.split(".")
    for length in range(len(parts) - 1, 0, -1):
        if _file(".".join(parts[:length])) is not None:
            return ".".join(parts[:length]), parts[length:]
    return None, []


@lru_cache(maxsize=512)
def _file(module: str) -> Path | None:
    """Return the source of a module, found from where its top-level package lies: importing nothing."""
    if os.path.isabs(module):  # the file of a target, which is a module by itself
        return Path(module) if os.path.isfile(module) else None
    root, *inner = module.split(".")
    try:
        spec = importlib.util.find_spec(root)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    place = Path(spec.origin)
    for name in inner:
        if place.name != "__init__.py":
            return None
        package, plain = place.parent / name / "__init__.py", place.parent / f"{name}.py"
        place = package if package.is_file() else plain
    return place if place.suffix == ".py" and place.is_file() else None


@lru_cache(maxsize=256)
def _statements(module: str) -> tuple[ast.stmt, ...]:
    """Return the statements of a module, with those inside ``if`` and ``try`` at its top."""
    file = _file(module)
    if file is None:
        return ()
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ()
    found: list[ast.stmt] = []
    waiting = list(tree.body)
    while waiting:
        statement = waiting.pop(0)
        if isinstance(statement, ast.If | ast.Try):
            waiting = [*statement.body, *statement.orelse, *waiting]
        else:
            found.append(statement)
    return tuple(found)


def _named(module: str, name: str, seen: set[str]) -> _Found | None:
    """Return the definition of ``name`` in ``module``, followed through imports of modules that are not ``seen``."""
    if f"{module}:{name}" in seen or len(seen) >= _MOST_MODULES:
        return None
    seen.add(f"{module}:{name}")
    for statement in reversed(_statements(module)):
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == name:
            return _Found(statement, module)
        if isinstance(statement, ast.ImportFrom):
            found = _imported(statement, module, name, seen)
            if found is not None:
                return found
    return None


def _imported(statement: ast.ImportFrom, module: str, name: str, seen: set[str]) -> _Found | None:
    for alias in statement.names:
        if name == (alias.asname or alias.name) or alias.name == "*":
            source = _imported_from(module, statement)
            return None if source is None else _named(source, name if alias.name == "*" else alias.name, seen)
    return None


def _imported_from(module: str, statement: ast.ImportFrom) -> str | None:
    if statement.level == 0:
        return statement.module
    if os.path.isabs(module):
        return None
    file = _file(module)
    inside = file is not None and file.name == "__init__.py"
    parts = module.split(".")
    up = statement.level - (1 if inside else 0)
    base = parts[: len(parts) - up] if up else parts
    return ".".join([*base, *([statement.module] if statement.module else [])]) or None


def _method(found: _Found, name: str, hops: int) -> ast.FunctionDef | None:
    """Return the method of a class or of the first base that has it; ``None`` where a base is not found."""
    if hops > _MOST_MODULES or not isinstance(found.node, ast.ClassDef):
        return None
    for statement in found.node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return statement
    for base in found.node.bases:
        inherited = _named(found.module, base.id, set()) if isinstance(base, ast.Name) else None
        if inherited is None:
            return None
        method = _method(inherited, name, hops + 1)
        if method is not None:
            return method
    return None


def _makes_its_own(found: _Found) -> bool:
    """Whether a class is called in another way than its ``__init__``: decorated, or with a ``__new__``."""
    node = found.node
    assert isinstance(node, ast.ClassDef)
    return bool(node.decorator_list or node.keywords) or _method(found, "__new__", 0) is not None


def _of_function(function: ast.FunctionDef, *, skip: int) -> Arguments | None:
    if any(_name_of(decorator) not in _KEEP_SIGNATURE for decorator in function.decorator_list):
        return None
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    required = len(positional) - len(given.defaults)
    parameters = {a.arg: n < required for n, a in enumerate(positional) if n >= max(skip, len(given.posonlyargs))}
    parameters |= {a.arg: d is None for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)}
    return Arguments(
        parameters,
        given.kwarg is not None,
        positional=tuple(a.arg for a in positional[skip:]),
        any_number=given.vararg is not None,
        annotations=_annotations(function),
    )


def _annotations(function: ast.FunctionDef) -> dict[str, Any]:
    arguments = [*function.args.args, *function.args.kwonlyargs]
    defaults = [*[None] * (len(function.args.args) - len(function.args.defaults)), *function.args.defaults]
    defaults += function.args.kw_defaults
    found = {}
    for argument, default in zip(arguments, defaults, strict=True):
        kind = _type_of(argument.annotation)
        if kind is not Any:
            optional = isinstance(default, ast.Constant) and default.value is None
            found[argument.arg] = Union[kind, None] if optional else kind  # noqa: UP007
    return found


def _type_of(node: ast.expr | None) -> Any:
    """Return the type that an annotation spells, ``Any`` for what is no scalar, no tensor and no union of them."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return _type_of(ast.parse(node.value, mode="eval").body)
        except SyntaxError:
            return Any
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    if isinstance(node, ast.Name | ast.Attribute):
        name = _name_of(node)
        if _is_torch_dtype(node):
            return _DTYPE
        return _TENSOR if name == "Tensor" else _TYPES.get(name, Any)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([_type_of(node.left), _type_of(node.right)])
    if isinstance(node, ast.Subscript) and _name_of(node.value) in ("Union", "Optional"):
        members = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        extra = [None] if _name_of(node.value) == "Optional" else []
        return _union([*(_type_of(member) for member in members), *extra])
    return Any


def _is_torch_dtype(node: ast.expr) -> bool:
    return ast.unparse(node) == "torch.dtype"


def _union(members: list[Any]) -> Any:
    return Any if any(member is Any for member in members) else Union[tuple(members)]  # noqa: UP007


def _name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _name_of(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
