"""Where, what and how many checkpoints are kept."""

from __future__ import annotations

from pathlib import Path

import attrs


@attrs.frozen
class CheckpointConfig:
    """``keep_last`` of ``None`` keeps every checkpoint; ``max_shard_bytes`` bounds one weights file."""

    directory: Path
    enabled: bool = True
    keep_last: int | None = None
    max_shard_bytes: int = 5_000_000_000
    save_optimizer: bool = True
    overwrite: bool = False
    """Whether a new run may write into a directory that holds another run's checkpoints, which are set aside then."""
