"""Which targets may be imported and called.

A config is input: naming something in it must not be a way to run anything. A target is allowed when the vocabulary
has it by name, or when it lies below a prefix that the core, an installed plugin or the user's project file vouches
for. Anything else is refused before it is imported. Some modules are refused whoever vouches.
"""

from __future__ import annotations

import re
from typing import Any

from automodel_core.config.vocabulary import PRETRAINED, Vocabulary
from automodel_core.diagnostics import Diagnostic, Span, did_you_mean
from automodel_core.specs import TrustedPrefix

NEVER_MODULES = (
    *("builtins", "os", "posix", "nt", "posixpath", "sys", "subprocess", "_posixsubprocess", "shutil", "pty", "socket"),
    *("importlib", "runpy", "code", "codeop", "ctypes", "_ctypes", "cffi", "imp", "pip", "ensurepip", "signal"),
    *("pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "webbrowser", "timeit"),
    *("torch.hub", "torch.utils.cpp_extension", "torch.package", "torch.utils.model_zoo", "torch._C._jit"),
)
NEVER_NAMES = (
    *("torch.load", "torch.serialization.load", "torch.jit.load", "torch.jit._serialization.load"),
    *("torch.ops.load_library", "torch.classes.load_library", "torch.export.load", "numpy.load", "pandas.read_pickle"),
)
_PRETRAINED_METHODS = ("from_pretrained", "from_config")
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_name(target: str) -> bool:
    """Return whether ``target`` is a dotted name of identifiers."""
    return _NAME.fullmatch(target) is not None


def is_never(name: str) -> bool:
    """Return whether a dotted name is on the list that nobody can vouch for."""
    return name in NEVER_NAMES or any(below(name, module) for module in NEVER_MODULES)


def below(name: str, prefix: str) -> bool:
    """Return whether ``name`` is ``prefix`` or lies below it."""
    return name == prefix or name.startswith(prefix + ".")


def declared_owner(target: str, vocabulary: Vocabulary) -> str | None:
    """Return the name in the vocabulary that ``target`` is, or that it is a method of."""
    if target in vocabulary.targets:
        return target
    owner, _, method = target.rpartition(".")
    return owner if owner in vocabulary.targets and not method.startswith("_") else None


def trusted_prefix(target: str, vocabulary: Vocabulary) -> str | None:
    """Return the longest trusted prefix that ``target`` lies below."""
    prefixes = [entry.prefix for entry in vocabulary.trusted if _allows(entry.prefix, entry.kind, target)]
    return max(prefixes, key=len, default=None)


def _allows(prefix: str, kind: str, target: str) -> bool:
    if not target.startswith(prefix + "."):
        return False
    return kind != PRETRAINED or target.rpartition(".")[2] in _PRETRAINED_METHODS


def target_problem(target: str, span: Span | None, vocabulary: Vocabulary) -> Diagnostic | None:
    """Return why ``target`` may not be imported, from its name alone, or ``None`` when it may."""
    if declared_owner(target, vocabulary) is not None:
        return None
    if not is_name(target):
        helps = ("write a dotted name, for example `torch.optim.AdamW`",)
        return Diagnostic("AM202", f"`{target}` is not the dotted name of a callable", span, "", helps)
    if is_never(target):
        helps = ("it can load or run arbitrary code, so no setting allows it",)
        return Diagnostic("AM204", f"`{target}` is never allowed as a target", span, "refused, not imported", helps)
    if any(part.startswith("__") for part in target.split(".")):
        return Diagnostic(
            "AM204",
            f"`{target}` names an internal attribute",
            span,
            "refused, not imported",
            ("name the class or the function itself",),
        )
    if trusted_prefix(target, vocabulary) is not None:
        return None
    return _not_trusted(target, span, vocabulary)


def _not_trusted(target: str, span: Span | None, vocabulary: Vocabulary) -> Diagnostic:
    known = did_you_mean(target, vocabulary.targets) or _same_last_name(target, vocabulary)
    root = target.partition(".")[0]
    if "." not in target:
        helps = (*known, "write the dotted name of a callable")
        return Diagnostic("AM203", f"no target is called `{target}`", span, "unknown short name", helps)
    vouched = sorted({_shown(entry) for entry in vocabulary.trusted if below(entry.prefix, root)})
    if not vouched and any(below(name, root) for name in vocabulary.targets):
        message = f"`{target}` is not available: nothing installed declares it"
        return Diagnostic("AM210", message, span, "not available", known)
    allow = f'if it is yours, add `trusted = ["{root}"]` to `[tool.automodel]` in the `pyproject.toml` you run from'
    if vouched:
        allow = f"below `{root}`, these are trusted: " + ", ".join(f"`{prefix}`" for prefix in vouched)
    message = f"`{target}` is not trusted, so it was not imported"
    return Diagnostic("AM203", message, span, "neither declared nor below a trusted module", (*known, allow))


def _shown(entry: TrustedPrefix) -> str:
    return f"{entry.prefix}….from_pretrained" if entry.kind == PRETRAINED else entry.prefix


def _same_last_name(target: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    last = target.rpartition(".")[2]
    same = [name for name in vocabulary.targets if name.rpartition(".")[2] == last]
    return ("did you mean " + " or ".join(f"`{name}`" for name in same[:3]) + "?",) if same else ()


def defined_in(found: Any) -> str:
    """Return the dotted name under which a callable was defined, as far as it can be told."""
    function = getattr(found, "func", found)
    function = getattr(function, "__func__", function)
    module = getattr(function, "__module__", None)
    if module is None:
        owner = getattr(function, "__self__", None) or type(function)
        module = owner.__name__ if hasattr(owner, "__spec__") else getattr(type(function), "__module__", "")
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", "")
    return f"{module}.{name}" if name else str(module)
