"""Which targets may be imported and called.

A config is input: naming something in it must not be a way to run anything. A target is allowed when the vocabulary
has it by name, or when it lies below a prefix that the core, an installed plugin or the user's project file vouches
for. Anything else is refused before it is imported. Some modules are refused whoever vouches.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from automodel_core.config.containment import lies_in
from automodel_core.config.file_targets import FileTarget, file_target, missing_file, written_file
from automodel_core.config.vocabulary import CONFIGURATION, PRETRAINED, Vocabulary
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
_LOADERS = {
    "custom_pipeline": "it is a Python file that would be run",
    "weights_only": "without it, weights are unpickled, which can run anything",
}
"""Arguments of `from_pretrained` that load code or pickles; `weights_only` where it is false."""
_PRETRAINED_METHODS = ("from_pretrained", "from_config")
_MOST_NAMES = 16
_CONFIGURATION_CLASS = re.compile(r"[A-Z]\w*Config")
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


def trusted_prefix(target: str, span: Span | None, vocabulary: Vocabulary) -> str | None:
    """Return the longest trusted prefix that ``target``, written at ``span``, lies below."""
    allowing = (entry for entry in vocabulary.trusted if _allows(entry.prefix, entry.kind, target))
    prefixes = [entry.prefix for entry in allowing if not _is_below(span, entry.unless_below)]
    return max(prefixes, key=len, default=None)


def _is_below(span: Span | None, directory: Path | None) -> bool:
    """Return whether a place is in a file that lies in ``directory``, whose project file cannot vouch for it then."""
    written_in = written_file(span)
    return directory is not None and written_in is not None and lies_in(written_in, directory)


def _allows(prefix: str, kind: str, target: str) -> bool:
    if not target.startswith(prefix + "."):
        return False
    last = target.rpartition(".")[2]
    if kind == CONFIGURATION:
        return _CONFIGURATION_CLASS.fullmatch(last) is not None
    return kind != PRETRAINED or last in _PRETRAINED_METHODS


def target_problem(target: str, span: Span | None, vocabulary: Vocabulary) -> Diagnostic | None:
    """Return why ``target`` may not be imported, from its name alone, or ``None`` when it may."""
    if declared_owner(target, vocabulary) is not None:
        return None
    file = file_target(target)
    if file is not None:
        return _file_problem(file, span, vocabulary)
    if not is_name(target):
        helps = ("write a dotted name, such as `torch.optim.AdamW`, or a file's, such as `./my_data.py:MyDataset`",)
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
    if trusted_prefix(target, span, vocabulary) is not None:
        return None
    return _not_trusted(target, span, vocabulary)


def loading_problem(target: str, arguments: Mapping[str, Any], spans: Mapping[str, Span]) -> Diagnostic | None:
    """Return which argument would make an allowed ``from_pretrained`` load code or pickles, or ``None``."""
    if target.rpartition(".")[2] not in _PRETRAINED_METHODS:
        return None
    for key, reason in _LOADERS.items():
        if key in arguments and arguments[key] not in ((True, None) if key == "weights_only" else (None,)):
            return Diagnostic(
                "AM215", f"`{key}` of `{target}` is never allowed", spans.get(key), reason, (f"remove `{key}`",)
            )
    return None


def _file_problem(file: FileTarget, span: Span | None, vocabulary: Vocabulary) -> Diagnostic | None:
    missing = missing_file(file, span)
    if missing is not None:
        return missing
    if any(part.startswith("__") for part in file.attribute.split(".")):
        return Diagnostic("AM204", f"`{file.attribute}` names an internal attribute", span, "refused, not imported")
    if file.path in vocabulary.files and not _is_below(span, vocabulary.files[file.path]):
        return None
    shown = os.path.relpath(file.path)
    helps = (f"if you know what is in it, add `--trust {shown if os.sep in shown else os.path.join('.', shown)}`",)
    message = f"`{shown}` is not trusted, so it was not imported"
    return Diagnostic("AM203", message, span, "a Python file that nobody vouches for", helps)


def _not_trusted(target: str, span: Span | None, vocabulary: Vocabulary) -> Diagnostic:
    known = did_you_mean(target, vocabulary.targets) or _same_last_name(target, vocabulary)
    root = target.partition(".")[0]
    if "." not in target:
        helps = (*(known or _short_names(vocabulary)), "write the dotted name of a callable")
        return Diagnostic("AM203", f"no target is called `{target}`", span, "unknown short name", helps)
    vouched = sorted({_shown(entry) for entry in vocabulary.trusted if below(entry.prefix, root)})
    if not vouched and any(below(name, root) for name in vocabulary.targets):
        message = f"`{target}` is not available: nothing installed declares it"
        return Diagnostic("AM210", message, span, "not available", known)
    beside = [entry for entry in vocabulary.trusted if entry.unless_below and below(target, entry.prefix)]
    allow = (
        f'if it is yours, add `--trust {root}`, or `trusted = ["{root}"]` to `[tool.automodel]` in the '
        "`pyproject.toml` you run from"
    )
    if beside:
        allow = (
            f"the project file in `{beside[0].unless_below}` trusts it, but cannot vouch for a config that came with "
            f"it: if both are yours, add `--trust {beside[0].prefix}`"
        )
    elif vouched:
        allow = f"below `{root}`, these are trusted: " + ", ".join(f"`{prefix}`" for prefix in vouched)
    message = f"`{target}` is not trusted, so it was not imported"
    return Diagnostic("AM203", message, span, "neither declared nor below a trusted module", (*known, allow))


def _short_names(vocabulary: Vocabulary) -> tuple[str, ...]:
    short = sorted(name for name in vocabulary.targets if "." not in name)
    listed = ", ".join(f"`{name}`" for name in short[:_MOST_NAMES]) + (", …" if len(short) > _MOST_NAMES else "")
    return (f"the short names are {listed}",) if short else ()


def _shown(entry: TrustedPrefix) -> str:
    ends = {PRETRAINED: "….from_pretrained", CONFIGURATION: "…Config"}
    return entry.prefix + ends.get(entry.kind, "")


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
