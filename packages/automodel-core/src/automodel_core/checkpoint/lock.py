"""One writer for a directory of checkpoints: a lock that the system lets go of when the process dies."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import IO, Final
from weakref import WeakSet

import attrs

LOCK: Final = ".lock"
_UNSUPPORTED: Final = frozenset({errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP})
_held: WeakSet[DirectoryLock] = WeakSet()


class DirectoryLockedError(OSError):
    """Somebody else holds the lock of the directory."""


@attrs.define(eq=False)
class DirectoryLock:
    """The exclusive lock of one directory, held from :func:`lock_directory` until :meth:`release`."""

    _file: IO[str]

    def release(self) -> None:
        """Let go of the lock. Doing so twice is fine."""
        if not self._file.closed:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._file.close()


def lock_directory(directory: Path) -> DirectoryLock:
    """Return the lock of ``directory``, which exists. Raises :class:`DirectoryLockedError` when it is taken.

    On a file system that knows no locks nothing is held and nobody is refused.
    """
    file = (directory / LOCK).open("a", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise DirectoryLockedError(*error.args) from None
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            file.close()
            raise
    lock = DirectoryLock(file)
    _held.add(lock)
    return lock


def _forget_in_child() -> None:
    """Close the copies that a forked process has: a data worker that outlives a killed run must not hold its lock."""
    for lock in list(_held):
        lock._file.close()


os.register_at_fork(after_in_child=_forget_in_child)
