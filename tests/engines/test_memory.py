"""What a tile is said to take is what is allocated for it."""

import pytest
import torch

from tests.nets import SHAPES, make_config
from vjproof.engines.torch_chain import buffers, memory, tables


@pytest.mark.parametrize("pooling", [("cls", 1, 1), ("mean", 1, 1)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("keep", [True, False])
def test_the_bytes_of_an_image_are_those_that_are_allocated(dtype, keep, pooling, monkeypatch):
    config, taken = make_config(SHAPES[1], depth=5, pooling=pooling), []

    def counted(kind, *shape):
        taken.append(torch.Size(shape).numel() * kind.itemsize)
        return memory.empty(kind, *shape)

    monkeypatch.setattr(buffers, "empty", counted)
    monkeypatch.setattr(tables, "empty", counted)
    wide, images = torch.promote_types(dtype, torch.float32), 3
    buffers.Activations(config, images, dtype, wide, keep)
    scratch = buffers.Scratch(config, images, 1, dtype, wide)
    scratch.context.rows()
    scratch.d_qkv.rows()
    pixels = 2 * images * torch.Size(config.image_shape).numel() * wide.itemsize
    tables_of_scores = 2 * scratch.scores.nbytes
    said, other = (images * memory.image_bytes(config, dtype.itemsize, kept) for kept in (keep, not keep))
    assert sum(taken) + pixels - tables_of_scores <= said <= 1.15 * (sum(taken) + pixels)
    # The red control: attention weights that are kept and not counted, or the other way round.
    assert not sum(taken) + pixels - tables_of_scores <= other <= sum(taken) + pixels
