"""Standard streams that the caller closed (``>&-``)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout


@contextmanager
def standard_streams() -> Iterator[None]:
    """Let what the block prints to a closed stream go nowhere.

    A closed descriptor would be given to the next file that is opened, and output written into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    with ExitStack() as stack:
        if sys.stdout is None:
            stack.enter_context(redirect_stdout(os.fdopen(1, "w", closefd=False)))
        if sys.stderr is None:
            stack.enter_context(redirect_stderr(os.fdopen(2, "w", closefd=False)))
        yield
