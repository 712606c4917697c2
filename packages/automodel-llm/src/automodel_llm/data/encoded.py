"""Token ids with what is learned of them."""

from __future__ import annotations

import attrs


@attrs.frozen
class Encoded:
    """``targets[t]`` says whether ``ids[t]`` is to be predicted from what comes before it."""

    ids: list[int]
    targets: list[bool]
    truncated: bool = False

    def cut(self, length: int) -> Encoded:
        """Return the first ``length`` tokens."""
        return Encoded(self.ids[:length], self.targets[:length], truncated=True)

    @property
    def supervised(self) -> int:
        """Return how many tokens are learned: the first of a sequence has nothing to be predicted from."""
        return sum(self.targets[1:])
