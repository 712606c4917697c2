"""A plain torch ``DataLoader`` over a global order, and the stream of it that a run consumes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import attrs
import torch
from torch.utils.data import DataLoader

from automodel_core.data.order import GlobalOrder, seed_of
from automodel_core.diagnostics import Diagnostic
from automodel_core.errors import InputError, RunFailedError
from automodel_core.training.batches import Batch


class MapDataset(Protocol):
    """A data set with a length, that can be indexed."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


@attrs.frozen
class EpochView:
    """A data set as it is in one epoch.

    One with ``at(index, epoch)`` draws anew in each epoch (augmentation, noise), as a function of the index and the
    epoch, so that the order of reading and the number of workers change nothing.
    """

    dataset: Any
    epoch: int

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> Any:
        return self.dataset.at(index, self.epoch)


def in_epoch(dataset: MapDataset, epoch: int) -> MapDataset:
    """Return ``dataset`` as it is in ``epoch``."""
    return EpochView(dataset, epoch) if hasattr(dataset, "at") else dataset


def _ignore_interrupts(worker: int) -> None:
    """Leave Ctrl-C, which a terminal sends to workers as well, to the training process, which ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@attrs.frozen
class OrderedLoader:
    """The micro-batches of ``dataset`` in the global order of (seed, epoch); the last of an epoch may be short.

    Workers start afresh for each pass. Their random state is drawn from (seed, epoch) and never from the process's
    global generator, so that starting a pass does not change what dropout draws next.
    """

    dataset: MapDataset
    batch_size: int
    collate: Callable[[Sequence[Any]], Batch]
    seed: int = 0
    shuffle: bool = True
    num_workers: int = 0
    pin_memory: bool = False

    def __len__(self) -> int:
        """Return the micro-batches of one epoch."""
        return -(-len(self.dataset) // self.batch_size)

    def first_batch(self) -> Batch:
        """Return a micro-batch of the first samples, for a look at its keys: no worker is started.

        Raises :class:`InputError` (AM320) when the samples lack what the collate function reads.
        """
        dataset = in_epoch(self.dataset, 0)
        try:
            return self.collate([dataset[i] for i in range(min(self.batch_size, len(self.dataset)))])
        except AttributeError as error:
            message = f"the data are not of the kind that this recipe trains on: {error}"
            helps = ("use a data set of the recipe's own domain, or give `build_collate` in a plugin",)
            raise InputError(Diagnostic("AM320", message, helps=helps)) from error

    def batches(self, epoch: int, *, skip: int = 0) -> Iterator[Batch]:
        """Yield the micro-batches of ``epoch`` that follow its first ``skip`` samples."""
        order = GlobalOrder(len(self.dataset), self.seed, self.shuffle)
        loader: DataLoader[Any] = DataLoader(
            in_epoch(self.dataset, epoch),  # type: ignore[arg-type]
            batch_sampler=list(order.batches(epoch, self.batch_size, skip=skip)),
            collate_fn=self.collate,
            num_workers=self.num_workers,
            pin_memory=self.pin_memory and torch.accelerator.is_available(),
            worker_init_fn=_ignore_interrupts,
            generator=torch.Generator().manual_seed(seed_of("workers", self.seed, epoch)),
        )
        return _watched(loader) if self.num_workers else iter(loader)


def _watched(loader: Iterable[Batch]) -> Iterator[Batch]:
    """Yield batches, and say so when a worker process is gone: the kernel kills one where memory runs out."""
    try:
        yield from loader
    except (RuntimeError, ConnectionError, EOFError) as error:
        if isinstance(error, RuntimeError) and "DataLoader worker" not in str(error):
            raise
        raise RunFailedError(
            "a worker of the data loader was killed, perhaps because memory ran out; lower `dataloader.num_workers` or "
            "`dataloader.batch_size` and go on with `--restore_from.path latest`"
        ) from error


class BatchStream:
    """Micro-batches epoch after epoch, without end. The state is one integer: the samples taken since the start."""

    def __init__(self, loader: OrderedLoader) -> None:
        self.loader = loader
        self._samples = 0
        self._pass: Iterator[Batch] | None = None

    def take(self, count: int) -> list[Batch]:
        """Return the next ``count`` micro-batches."""
        return [self._next() for _ in range(count)]

    def _next(self) -> Batch:
        size = len(self.loader.dataset)
        epoch, offset = divmod(self._samples, size)
        if self._pass is None:
            self._pass = self.loader.batches(epoch, skip=offset)
        batch = next(self._pass)
        taken = min(self.loader.batch_size, size - offset)
        self._samples += taken
        if offset + taken == size:
            self._pass = None
        return batch

    def position(self) -> tuple[int, int]:
        """Return (epoch, micro-batch within it) of the next batch.

        Raises ``ValueError`` when the samples taken are not whole micro-batches of this loader's size.
        """
        epoch, offset = divmod(self._samples, len(self.loader.dataset))
        if offset % self.loader.batch_size:
            raise ValueError(f"{offset} samples of epoch {epoch} are not whole batches of {self.loader.batch_size}")
        return epoch, offset // self.loader.batch_size

    def state_dict(self) -> dict[str, Any]:
        """Return the number of samples taken, and which data they were of."""
        dataset = self.loader.dataset
        return {
            "samples_consumed": self._samples,
            "samples_per_epoch": len(dataset),
            "fingerprint": getattr(dataset, "fingerprint", None),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on after the samples that ``state`` counts; where an epoch has another size now, at its beginning."""
        taken, size = int(state["samples_consumed"]), len(self.loader.dataset)
        then = int(state.get("samples_per_epoch", size))
        self._samples = taken if then == size else taken // then * size
        self._pass = None

    def data_change(self, state: Mapping[str, Any]) -> str | None:
        """Return how the data differ from those that ``state`` was saved with, as far as can be told."""
        now = self.state_dict()
        then = {key: state.get(key, now[key]) for key in now}
        if then["samples_per_epoch"] != now["samples_per_epoch"]:
            return f"the data had {then['samples_per_epoch']} samples and have {now['samples_per_epoch']} now"
        if None not in (then["fingerprint"], now["fingerprint"]) and then["fingerprint"] != now["fingerprint"]:
            return "the data have as many samples as they had, and hold something else"
        return None
