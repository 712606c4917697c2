"""Layout arithmetic: how the ranks of a run divide into parallel groups. Pure, without torch."""

from automodel_core.layout.batch import Batch, nearest_global_batches
from automodel_core.layout.layout import Layout, LayoutError
from automodel_core.layout.mesh import Mesh
from automodel_core.layout.partition import chunks_of_rank, partition_layers
from automodel_core.layout.request import LayoutRequest, Machine, ModelShape
from automodel_core.layout.rules import RULES, Finding, findings

__all__ = [
    "RULES",
    "Batch",
    "Finding",
    "Layout",
    "LayoutError",
    "LayoutRequest",
    "Machine",
    "Mesh",
    "ModelShape",
    "chunks_of_rank",
    "findings",
    "nearest_global_batches",
    "partition_layers",
]
