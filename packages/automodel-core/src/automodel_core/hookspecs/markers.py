"""The pluggy markers. Apart from the specifications so that those can use them."""

from typing import Final

import pluggy

PROJECT: Final = "automodel"
HOOK_API: Final = 1
"""Grows when a hook changes in a way that an existing implementation can notice."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
