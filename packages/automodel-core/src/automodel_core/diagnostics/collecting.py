"""Several attempts that do not depend on each other, and everything that is wrong with any of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from automodel_core.diagnostics.diagnostic import Diagnostic
from automodel_core.errors import InputError


@attrs.define
class Problems:
    """What was found so far, in the order of the attempts."""

    found: list[Diagnostic] = attrs.field(factory=list)

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Let the block fail with an :class:`InputError`, and keep what that says."""
        try:
            yield
        except InputError as error:
            self.found.extend(error.diagnostics)

    def report(self) -> None:
        """Raise :class:`InputError` with everything, each once, when there is anything."""
        if self.found:
            raise InputError(list(dict.fromkeys(self.found)))
