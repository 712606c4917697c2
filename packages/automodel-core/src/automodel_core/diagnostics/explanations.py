"""More about a code than its title: why it is said, and a config that earns it beside a mended one, or what to do."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

import attrs


@attrs.frozen
class Explanation:
    """``wrong`` and ``right`` are configs; with ``overrides`` the mistake is in those, and ``corrected`` mends it.

    What no config can show, because it depends on files or happens in a run, has a ``fix`` in words instead.
    """

    cause: str
    wrong: str | None = None
    right: str | None = None
    overrides: tuple[str, ...] = ()
    corrected: tuple[str, ...] = ()
    fix: str = ""

    def text(self) -> str:
        """Return the explanation as it is printed."""
        if self.wrong is None:
            return f"{self.cause}\n\n{self.fix}\n"
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


def _explanation(overrides: Sequence[str] = (), corrected: Sequence[str] = (), **said: str) -> Explanation:
    return Explanation(overrides=tuple(overrides), corrected=tuple(corrected), **said)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.rstrip("\n").split("\n"))
