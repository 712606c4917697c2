"""Being told to stop: the step under way is finished, a checkpoint is written, and the run ends resumable."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import Any

from automodel_core.errors import EXIT_PREEMPTED, AutomodelError


class PreemptedError(AutomodelError):
    """The run was told to stop, has saved, and can go on from there."""

    exit_code = EXIT_PREEMPTED


class Preemption:
    """Listens for ``signals`` while it is entered; handlers that were there before come back.

    The first signal is only noted, in :attr:`received`. A second one of the same kind does what it would have done
    without us, at once. Without signals nothing is installed, and a signal that is ignored stays ignored.
    """

    def __init__(self, signals: Sequence[str] = ()) -> None:
        self.received: str | None = None
        self._signals = [signal.Signals[name] for name in signals]
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Preemption:
        # Python lets only the main thread of the main interpreter install handlers.
        if threading.current_thread() is threading.main_thread():
            # What is ignored stays so: `nohup` ignores SIGHUP for a run that must outlive its terminal.
            heard = [number for number in self._signals if signal.getsignal(number) is not signal.SIG_IGN]
            self._previous = {number: signal.signal(number, self._note) for number in heard}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous = {}

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.received is None:
            self.received = signal.Signals(number).name
            return
        signal.signal(number, self._previous.get(number) or signal.SIG_DFL)
        os.kill(os.getpid(), number)
