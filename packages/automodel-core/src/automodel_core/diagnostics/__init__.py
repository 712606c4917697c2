"""One value for everything that is wrong with a user's input, and its renderings."""

from automodel_core.diagnostics.codes import CODES, title_of
from automodel_core.diagnostics.diagnostic import Diagnostic, Span
from automodel_core.diagnostics.render import render, render_blocks, render_concise, render_json, to_data, use_colour
from automodel_core.diagnostics.suggest import closest, did_you_mean

__all__ = [
    "CODES",
    "Diagnostic",
    "Span",
    "closest",
    "did_you_mean",
    "render",
    "render_blocks",
    "render_concise",
    "render_json",
    "title_of",
    "to_data",
    "use_colour",
]
