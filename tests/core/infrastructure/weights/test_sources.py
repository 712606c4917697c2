"""Reading any slice of a graph of sources equals slicing what the same operations give on tensors."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from automodel_core.infrastructure.weights import Leaf, Opaque, Transposed, leaf_over, whole


@st.composite
def graphs(draw):
    """Return (tensor, source) built by the same random operations."""
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=2, max_size=3)))
    tensors = [torch.arange(float(torch.Size(shape).numel())).reshape(shape) + 100 * n for n in range(3)]
    pairs = [(tensor, leaf_over(f"leaf{n}", tensor)) for n, tensor in enumerate(tensors)]
    tensor, source = pairs[0]
    for _ in range(draw(st.integers(0, 4))):
        tensor, source = draw(st.sampled_from([_stacked, _joined, _swapped, _narrowed, _chunk, _split, _dropped]))(
            tensor, source, draw
        )
    return tensor, source


def _dim(tensor, draw):
    return draw(st.integers(-tensor.ndim, tensor.ndim - 1))


def _stacked(tensor, source, draw):
    dim = draw(st.integers(0, tensor.ndim))
    return torch.stack([tensor, tensor + 0], dim), torch.stack([source, source], dim)


def _joined(tensor, source, draw):
    dim = _dim(tensor, draw)
    return torch.cat([tensor, tensor], dim=dim), torch.cat([source, source], dim=dim)


def _swapped(tensor, source, draw):
    first, second = _dim(tensor, draw), _dim(tensor, draw)
    return torch.transpose(tensor, first, second), torch.transpose(source, first, second)


def _narrowed(tensor, source, draw):
    dim = _dim(tensor, draw)
    start = draw(st.integers(0, tensor.shape[dim] - 1))
    length = draw(st.integers(1, tensor.shape[dim] - start))
    return tensor.narrow(dim, start, length), source.narrow(dim, start, length)


def _chunk(tensor, source, draw):
    dim, count = _dim(tensor, draw), draw(st.integers(1, 4))
    chunks = torch.chunk(tensor, count, dim=dim)
    number = draw(st.integers(0, len(chunks) - 1))
    others = torch.chunk(source, count, dim=dim)
    assert len(others) == len(chunks)
    return chunks[number], others[number]


def _split(tensor, source, draw):
    dim = _dim(tensor, draw)
    first = draw(st.integers(1, tensor.shape[dim]))
    sizes = [first, tensor.shape[dim] - first]
    return torch.split(tensor, sizes, dim=dim)[0], torch.split(source, sizes, dim=dim)[0]


def _dropped(tensor, source, draw):
    dim = _dim(tensor, draw)
    return (tensor.squeeze(dim), source.squeeze(dim)) if tensor.ndim > 2 else (tensor, source)


@st.composite
def indexed(draw):
    tensor, source = draw(graphs())
    index = []
    for size in tensor.shape:
        start = draw(st.integers(0, size))
        index.append(slice(start, draw(st.integers(start, size))))
    return tensor, source, tuple(index)


@given(indexed())
def test_any_slice_of_a_graph_equals_the_slice_of_the_tensor(case):
    tensor, source, index = case
    assert source.shape == tensor.shape
    assert torch.equal(source.read(index), tensor[index])


@given(indexed())
def test_the_pieces_of_a_slice_fill_it_once_and_say_where_on_meta_too(case):
    """The same pieces, asked with an output on meta, name positions in a file by offset and strides."""
    tensor, source, index = case
    shape = tensor[index].shape
    out = torch.full((torch.Size(shape).numel(),), -1.0)
    for piece in source.pieces(index, torch.empty(shape, device="meta")):
        view = out.as_strided(piece.out.shape, piece.out.stride(), piece.out.storage_offset())
        assert torch.all(view == -1)
        view.copy_(piece.leaf.read(piece.index))
    assert torch.equal(out.reshape(shape), tensor[index])


@given(graphs())
def test_positional_operations_stay_positional(case):
    _, source = case
    assert not isinstance(source, Opaque)


def test_only_the_asked_part_of_a_stack_is_read():
    read: list[int] = []

    def expert(number):
        values = torch.full((4, 3), float(number))

        def reader(index):
            read.append(values[index].numel())
            return values[index]

        return Leaf(f"expert{number}", values.shape, values.dtype, reader)

    stacked = torch.stack([expert(number) for number in range(8)])
    got = stacked.read((slice(2, 4), slice(0, 1), slice(0, 3)))
    assert got.tolist() == [[[2.0, 2.0, 2.0]], [[3.0, 3.0, 3.0]]]
    assert read == [3, 3]


def test_an_unknown_operation_is_exact():
    tensor = torch.arange(12.0).reshape(4, 3)
    source = leaf_over("w", tensor)
    rolled = torch.roll(source, 1, dims=0).reshape(3, 4)
    expected = torch.roll(tensor, 1, dims=0).reshape(3, 4)
    assert isinstance(rolled, Opaque)
    assert torch.equal(rolled.read((slice(1, 3), slice(0, 2))), expected[1:3, 0:2])


def test_values_are_cast_to_what_they_fill():
    tensor = torch.tensor([[1.5, 2.5]], dtype=torch.bfloat16)
    out = torch.zeros(2, 1)
    Transposed(leaf_over("w", tensor), 0, 1).read_into(whole((2, 1)), out)
    assert out.dtype is torch.float32
    assert out.tolist() == [[1.5], [2.5]]
