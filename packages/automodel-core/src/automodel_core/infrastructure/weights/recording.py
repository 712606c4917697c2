"""Learning from a model's own initialisation code how each weight starts, by running it on the meta device.

Elementary draws (``normal_``, ``uniform_``, ``fill_`` and elementwise operations after them) become :class:`Draw`,
which any rank draws in part. Whatever else a model does (a logarithm of ``arange``, a value rescaled by the depth,
``trunc_normal_``, which does nothing on meta) becomes :class:`FromGenerator`: the same code is run again on one real
tensor, with a seeded generator.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from automodel_core.infrastructure.weights.initialisers import Draw, FromGenerator, Initialiser, constant

_ELEMENTWISE: Final = frozenset({"add_", "clamp_", "clamp_max_", "clamp_min_", "div_", "erfinv_", "mul_", "sub_"})
_DRAWS: Final = {"normal_": ("normal", 0.0, 1.0), "uniform_": ("uniform", 0.0, 1.0)}


@attrs.frozen(eq=False)
class InitialisationStep:
    """``initialise(module)`` initialises what ``module``, named ``name`` in the model, holds."""

    name: str
    module: nn.Module
    initialise: Callable[[nn.Module], None]


@attrs.define(eq=False)
class _History:
    """What happened to one weight: a draw that is understood, or ``None`` and the steps to run again."""

    weight: torch.Tensor
    draw: Draw | None = None
    writers: list[InitialisationStep] = attrs.field(factory=list)

    def overwrite(self, draw: Draw, step: InitialisationStep) -> None:
        self.draw, self.writers = draw, [step]

    def amend(self, draw: Draw | None, step: InitialisationStep) -> None:
        self.draw = draw
        if not self.writers or self.writers[-1] is not step:
            self.writers.append(step)


def record_initialisers(
    model: nn.Module, steps: Sequence[InitialisationStep], tied: Mapping[str, str]
) -> dict[str, Initialiser]:
    """Return the initialiser of every weight of ``model`` (on the meta device) that ``steps`` write.

    ``tied`` maps names to the name that owns their storage: a tied weight starts as its owner says.
    """
    names = {name: weight for name, weight in model.state_dict(keep_vars=True).items() if name not in tied}
    histories = {_storage(weight): _History(weight) for weight in names.values()}
    muted = _storages_owned_elsewhere(model, tied)
    for step in steps:
        recorder = _Recorder(histories, step, muted.get(id(step.module), frozenset()))
        _run(recorder, step)
    return {
        name: _initialiser(name, history)
        for name, weight in names.items()
        if (history := histories[_storage(weight)]).writers
    }


def _storages_owned_elsewhere(model: nn.Module, tied: Mapping[str, str]) -> dict[int, frozenset[int]]:
    muted: dict[int, frozenset[int]] = {}
    for name in tied:
        holder, _, attribute = name.rpartition(".")
        module = model.get_submodule(holder)
        weight = getattr(module, attribute)
        muted[id(module)] = muted.get(id(module), frozenset()) | {_storage(weight)}
    return muted


def _run(recorder: _Recorder, step: InitialisationStep) -> None:
    try:
        with torch.no_grad(), recorder, _MetaQuestions(recorder):
            step.initialise(step.module)
    except (RuntimeError, NotImplementedError):
        # Code that needs values cannot run on meta: everything the module holds itself is computed for real.
        for weight in (*step.module.parameters(recurse=False), *step.module.buffers(recurse=False)):
            recorder.not_understood(weight)


class _Recorder(TorchDispatchMode):
    """Sees the in-place operations of one step."""

    def __init__(self, histories: Mapping[int, _History], step: InitialisationStep, muted: frozenset[int]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._histories, self._step, self._muted = histories, step, muted

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name.removeprefix("aten::")
        if name.endswith("_") and args and isinstance(args[0], torch.Tensor):
            self._written(name, args[0], args[1:], kwargs)
        return func(*args, **kwargs)

    def _history(self, weight: torch.Tensor) -> _History | None:
        storage = _storage(weight)
        return None if storage in self._muted else self._histories.get(storage)

    def not_understood(self, weight: torch.Tensor) -> None:
        """Note that ``weight`` is written in a way that only running the step again reproduces."""
        history = self._history(weight)
        if history is not None:
            history.amend(None, self._step)

    def _written(self, name: str, target: torch.Tensor, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        history = self._history(target)
        if history is None:
            return
        said = {key: value for key, value in kwargs.items() if value is not None}
        scalars = all(isinstance(value, (int, float)) for value in (*args, *said.values()))
        is_whole = target.numel() == history.weight.numel()
        if name in ("fill_", "zero_") and scalars:
            value = float(args[0]) if args else 0.0
            if is_whole:
                history.overwrite(constant(value), self._step)
            else:
                history.amend(_with_rows(history.draw, history.weight, target, value), self._step)
        elif name in _DRAWS and is_whole and scalars:
            base, first, second = _DRAWS[name]
            values = (*args, *(first, second)[len(args) :])
            history.overwrite(Draw(base, float(values[0]), float(values[1])), self._step)
        elif name in _ELEMENTWISE and is_whole and scalars and history.draw is not None and not history.draw.rows:
            operation = (name, args, tuple(said.items()))
            history.amend(attrs.evolve(history.draw, then=(*history.draw.then, operation)), self._step)
        else:
            history.amend(None, self._step)


class _MetaQuestions(TorchFunctionMode):
    """Notices code that asks a weight whether it is on meta: such code draws nothing here and must be run for real."""

    def __init__(self, recorder: _Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        asked = torch.Tensor.is_meta.__get__  # type: ignore[attr-defined]
        if func == asked and isinstance(args[0], torch.Tensor):
            self._recorder.not_understood(args[0])
        return func(*args, **(kwargs or {}))


def _with_rows(draw: Draw | None, weight: torch.Tensor, target: torch.Tensor, value: float) -> Draw | None:
    """Return ``draw`` with the rows that ``target``, a view of ``weight``, covers set to ``value``."""
    row_elements = weight[0].numel() if weight.ndim else 0
    if draw is None or not row_elements or not target.is_contiguous():
        return None
    start = target.storage_offset() - weight.storage_offset()
    if start % row_elements or target.numel() % row_elements:
        return None
    first = start // row_elements
    return attrs.evolve(draw, rows=(*draw.rows, (first, first + target.numel() // row_elements, value)))


def _initialiser(name: str, history: _History) -> Initialiser:
    if history.draw is not None:
        return history.draw
    return FromGenerator(functools.partial(_run_again, name, history.weight, tuple(history.writers)))


def _run_again(name: str, weight: torch.Tensor, writers: Sequence[InitialisationStep]) -> torch.Tensor:
    """Return the value of the weight ``name`` after ``writers`` have run on a real tensor in its place."""
    real = torch.empty(weight.shape, dtype=weight.dtype)
    value: torch.Tensor = nn.Parameter(real, requires_grad=False) if isinstance(weight, nn.Parameter) else real
    for step in writers:
        path = name.removeprefix(f"{step.name}." if step.name else "").split(".")
        stand_in = _with_weight(step.module, path, value)
        step.initialise(stand_in)
        value = functools.reduce(getattr, path, stand_in)  # type: ignore[assignment]
    return value.detach()


def _with_weight(module: nn.Module, path: Sequence[str], weight: torch.Tensor) -> nn.Module:
    """Return a shallow copy of ``module`` that has another weight at ``path``; the original is untouched."""
    clone = copy.copy(module)
    head, rest = path[0], path[1:]
    kind = "_modules" if rest else "_parameters" if head in module._parameters else "_buffers"
    children = dict(module.__dict__[kind])
    children[head] = _with_weight(children[head], rest, weight) if rest else weight
    clone.__dict__[kind] = children
    return clone


def _storage(weight: torch.Tensor) -> int:
    """Return what views of one weight have in common. The storage of a meta tensor is empty, but its own."""
    return int(weight.untyped_storage()._cdata)
