"""One value for everything that is wrong with a user's input, and its renderings."""

from automodel_core.diagnostics.diagnostic import Diagnostic, Span
from automodel_core.diagnostics.suggest import closest, did_you_mean

__all__ = ["Diagnostic", "Span", "closest", "did_you_mean"]
