"""Which checkpoints may go. A pure decision over step numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def expired_steps(steps: Iterable[int], keep_last: int | None, *, keep: Collection[int] = ()) -> list[int]:
    """Return the steps to delete, oldest first: all but the last ``keep_last`` and those in ``keep``."""
    if keep_last is None:
        return []
    ordered = sorted(set(steps))
    return [step for step in ordered[: max(len(ordered) - keep_last, 0)] if step not in keep]
