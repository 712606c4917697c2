"""The contract between the core and everything that plugs into it.

``declarations`` are asked of installed plugins once; ``builders``, ``stages`` and ``events`` are called during one run,
on a host made for that run. ``hookimpl`` marks an implementation, ``hookspec`` a specification.
"""

from automodel_core.hookspecs.markers import HOOK_API, PROJECT, hookimpl, hookspec

__all__ = ["HOOK_API", "PROJECT", "hookimpl", "hookspec"]
