"""Every code of a diagnostic and its one-line title. A code never changes its meaning."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CODES: Mapping[str, str] = MappingProxyType(
    {
        # AM1xx: the source of a config, overrides, references, keys and types.
        "AM100": "the config cannot be read",
        "AM101": "the config is not text",
        "AM102": "the config is not valid YAML or TOML",
        "AM103": "a key is written twice",
        "AM104": "the config is empty or not a mapping",
        "AM105": "the config is too large, too deep or contains itself",
        "AM106": "a key, value or tag that a config cannot hold",
        "AM110": "a word of the command line is not an override",
        "AM111": "an override names an unknown key",
        "AM112": "an override has no place in the config",
        "AM113": "a key is overridden twice",
        "AM114": "the value of an override cannot be read",
        "AM120": "a reference names a key that is not there",
        "AM121": "an environment variable is not set",
        "AM122": "references go in a circle",
        "AM123": "a reference cannot be read",
        "AM130": "two spellings of one key have different values",
        "AM140": "unknown section",
        "AM141": "unknown key in a section",
        "AM142": "a value has the wrong type",
        "AM143": "a value is not allowed",
        "AM144": "a section is missing",
        "AM145": "a section or a key of it has the wrong shape",
        # AM2xx: targets and components.
        "AM201": "a component has no `_target_`",
        "AM202": "a target or an argument is not a name",
        "AM203": "a target is not trusted",
        "AM204": "a target is never allowed",
        "AM205": "a target cannot be imported",
        "AM206": "a target is not callable",
        "AM207": "a target has no such argument",
        "AM208": "a target needs an argument",
        "AM209": "a target cannot be called with these arguments",
        "AM210": "a target is not available here",
        # AM9xx: warnings about valid configs.
        "AM901": "the warm-up is longer than the run",
        "AM902": "the validation interval is longer than the run",
        "AM903": "the checkpoint interval is longer than the run",
        "AM904": "the log interval is longer than the run",
        "AM905": "validation data without a cadence",
        "AM906": "a validation cadence without data",
        "AM907": "checkpoint keys without checkpoints",
        "AM908": "a validation data loader without data",
        "AM910": "another spelling of a key, with a note",
        "AM911": "another spelling of a target, with a note",
    }
)


def title_of(code: str) -> str | None:
    """Return the title of ``code``, or ``None`` when there is no such code."""
    return CODES.get(code)
