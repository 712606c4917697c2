"""What a check found."""

from __future__ import annotations

from typing import Literal, get_args

import attrs

Status = Literal["ok", "warn", "fail"]
"""``warn``: a run works, though not as well as it could. ``fail``: something that is asked for cannot work."""


@attrs.frozen
class Finding:
    """The state of one thing: ``message`` says what is the case, ``fix`` what to do when it is not ``ok``."""

    check: str
    status: Status = attrs.field(validator=attrs.validators.in_(get_args(Status)))
    message: str
    fix: str = ""

    def __attrs_post_init__(self) -> None:
        if self.status != "ok" and not self.fix:
            raise ValueError(f"the finding of `{self.check}` is `{self.status}` and says no fix")
