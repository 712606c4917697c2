"""More about a code than its title: why it is said, a config that earns it, and the same config mended."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

import attrs


@attrs.frozen
class Explanation:
    """``wrong`` and ``right`` are configs; with ``overrides`` the mistake is in those, and ``corrected`` mends it."""

    cause: str
    wrong: str
    right: str | None = None
    overrides: tuple[str, ...] = ()
    corrected: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the explanation as it is printed."""
        if self.overrides:
            wrong, right = " ".join(self.overrides), " ".join(self.corrected)
            return (
                f"{self.cause}\n\nwrong, with the config\n{_indented(self.wrong)}\n    {wrong}\n\nright\n    {right}\n"
            )
        return f"{self.cause}\n\nwrong\n{_indented(self.wrong)}\n\nright\n{_indented(self.right or '')}\n"


def explanations() -> dict[str, Explanation]:
    """Return every explanation by its code."""
    from automodel_core.config.source import load_yaml

    text = resources.files(__package__).joinpath("explanations.yaml").read_text(encoding="utf-8")
    data: dict[str, dict[str, Any]] = load_yaml(text, "explanations.yaml")
    return {code: _explanation(**said) for code, said in data.items()}


def _explanation(
    cause: str, wrong: str, right: str | None = None, overrides: Sequence[str] = (), corrected: Sequence[str] = ()
) -> Explanation:
    return Explanation(cause, wrong, right, tuple(overrides), tuple(corrected))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.rstrip("\n").split("\n"))
