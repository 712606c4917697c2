"""Where every weight comes from: files, seeded initialisers, and positional graphs over them."""

from automodel_core.infrastructure.weights.directory import open_directory
from automodel_core.infrastructure.weights.file import open_file
from automodel_core.infrastructure.weights.graph import Cast, Concat, Opaque, Part, Squeezed, Stack, Transposed
from automodel_core.infrastructure.weights.initialisers import (
    Draw,
    Drawn,
    FromGenerator,
    Initialiser,
    constant,
    normal,
    ones,
    uniform,
    zeros,
)
from automodel_core.infrastructure.weights.materialising import materialise
from automodel_core.infrastructure.weights.places import WeightsPlace, by_place, holds_places, open_places
from automodel_core.infrastructure.weights.source import Index, Leaf, Piece, WeightSource, leaf_over, whole

__all__ = [
    "Cast",
    "Concat",
    "Draw",
    "Drawn",
    "FromGenerator",
    "Index",
    "Initialiser",
    "Leaf",
    "Opaque",
    "Part",
    "Piece",
    "Squeezed",
    "Stack",
    "Transposed",
    "WeightSource",
    "WeightsPlace",
    "by_place",
    "constant",
    "holds_places",
    "leaf_over",
    "materialise",
    "normal",
    "ones",
    "open_directory",
    "open_file",
    "open_places",
    "uniform",
    "whole",
    "zeros",
]
