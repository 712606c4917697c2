"""What became of the rows of a data set: how many were read, kept and left out, and why."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import attrs

from automodel_core.diagnostics import Diagnostic, render


@attrs.frozen
class RowReport:
    """``read`` rows were looked at; ``other_split`` of them belong to another split; ``dropped`` says why others went.

    ``truncated`` counts samples that were longer than allowed. One row may give several samples.
    """

    source: str
    read: int
    samples: int
    other_split: int = 0
    truncated: int = 0
    dropped: Mapping[str, int] = attrs.field(factory=dict)

    @property
    def dropped_rows(self) -> int:
        """Return how many rows were dropped, for whatever reason."""
        return sum(self.dropped.values())

    def to_data(self) -> dict[str, Any]:
        """Return plain data, from which :meth:`from_data` makes the report again."""
        return attrs.asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> RowReport:
        """Return the report that :meth:`to_data` wrote."""
        return cls(**data)

    def warning(self) -> Diagnostic | None:
        """Return what the user should know when rows were dropped."""
        if not self.dropped:
            return None
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.dropped.items())
        message = f"`{self.source}`: {self.dropped_rows} of {self.read} rows are left out: {reasons}"
        helps = ("`automodel data preview -c CFG` shows what is trained on",)
        return Diagnostic("AM930", message, helps=helps, severity="warning")

    def tell(self) -> None:
        """Print the warning, if there is one, on stderr."""
        warning = self.warning()
        if warning is not None:
            print(render([warning], sys.stderr), end="", file=sys.stderr, flush=True)
