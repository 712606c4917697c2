"""The top of the command line: from words to an exit code, and how each kind of failure is shown."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Sequence
from typing import Final

from automodel_core.cli.command_line import CommandLine
from automodel_core.cli.standard_streams import standard_streams
from automodel_core.errors import EXIT_FAILED, AutomodelError, InputError

EXIT_INTERRUPTED: Final = 130
EXIT_BROKEN_PIPE: Final = 141


def main(words: Sequence[str] | None = None) -> int:
    """Run ``automodel`` with ``words`` (by default those of the process) and return the exit code.

    A user's mistake prints what is wrong and never a traceback; an exception that nobody raised on purpose always
    prints one.
    """
    line = CommandLine(tuple(sys.argv[1:] if words is None else words))
    with standard_streams():
        return _run(line)


def _run(line: CommandLine) -> int:
    from automodel_core.cli.dispatch import dispatch

    try:
        _check_text(line)
        code = dispatch(line)
        sys.stdout.flush()
        return code
    except AutomodelError as error:
        return _explain(error)
    except KeyboardInterrupt as interrupt:
        print("interrupted", *(f"({note})" for note in _notes(interrupt)), file=sys.stderr)
        return EXIT_INTERRUPTED
    except Exception as error:
        if isinstance(error, BrokenPipeError) and _reader_is_gone():
            return EXIT_BROKEN_PIPE
        return _show_traceback()


def _check_text(line: CommandLine) -> None:
    """Raise :class:`InputError` for a word that is not UTF-8: it could be neither printed nor saved."""
    from automodel_core.diagnostics.diagnostic import Diagnostic

    for word in line.words:
        if any("\ud800" <= character <= "\udfff" for character in word):
            shown = word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            raise InputError(Diagnostic("AM709", f"`{shown}` is not UTF-8 text", helps=("write it in UTF-8",)))


def _explain(error: AutomodelError) -> int:
    if isinstance(error, InputError):
        from automodel_core.cli.console import print_diagnostics

        print_diagnostics(error.diagnostics)
    else:
        print(f"error: {error}", file=sys.stderr)
    for note in _notes(error):
        print(f"  {note}", file=sys.stderr)
    return error.exit_code


def _show_traceback() -> int:
    import traceback

    traceback.print_exc()
    return EXIT_FAILED


def _notes(error: BaseException) -> Sequence[str]:
    notes: Sequence[str] = getattr(error, "__notes__", ())
    return notes


def _reader_is_gone() -> bool:
    """Say whether nobody reads our output any more, and if so keep the interpreter from flushing to it at exit."""
    output = sys.stdout.fileno()
    poller = select.poll()
    poller.register(output, select.POLLOUT)
    if not any(state & (select.POLLERR | select.POLLHUP) for _, state in poller.poll(0)):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), output)
    return True
