"""Which layers each pipeline stage holds, when they do not divide evenly as well."""

from __future__ import annotations


def partition_layers(layers: int, stages: int) -> tuple[range, ...]:
    """Return the layers of each stage, in order: all of them once, sizes that differ by at most one.

    Stages that hold one more are in the middle first, since the first stage has the embedding besides and the last
    one the head and the loss. Raise :class:`ValueError` when a stage would be empty.
    """
    if not 1 <= stages <= layers:
        raise ValueError(f"{layers} layers cannot fill {stages} stages")
    base, larger = divmod(layers, stages)
    inner, outer = range(1, stages - 1), (0, stages - 1)
    order = [*inner, *outer] if stages > 1 else [0]
    with_one_more = set(order[:larger])
    parts, start = [], 0
    for stage in range(stages):
        end = start + base + (stage in with_one_more)
        parts.append(range(start, end))
        start = end
    return tuple(parts)


def chunks_of_rank(pipeline_rank: int, pp: int, virtual: int = 1) -> tuple[int, ...]:
    """Return the stages that one pipeline rank holds when each rank holds ``virtual`` of them, dealt in turn."""
    if not 0 <= pipeline_rank < pp:
        raise ValueError(f"there is no pipeline rank {pipeline_rank} of {pp}")
    return tuple(range(pipeline_rank, pp * virtual, pp))


def bubble_fraction(pp: int, micro_batches: int, virtual: int = 1) -> float:
    """Return the share of a step that a pipeline rank waits under 1F1B: ``(pp - 1) / (virtual * m + pp - 1)``.

    Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", section
    2.2, as the share of the whole step rather than of its ideal part.
    """
    return (pp - 1) / (virtual * micro_batches + pp - 1)
