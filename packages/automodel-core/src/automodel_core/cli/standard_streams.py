"""Standard streams that the caller closed (``>&-``)."""

from __future__ import annotations

import os
import sys


def open_closed_streams() -> None:
    """Let what would be printed to a closed stream go nowhere.

    A closed descriptor would be given to the next file that is opened, and output written into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)
