"""Attention's tables: every one in exactly one group, and heads that stand apart or not hold the same."""

import pytest
import torch

from tests.nets import SHAPES, make_config
from vjproof.engines.torch_chain import tables
from vjproof.engines.torch_chain.tables import HeadRows, groups, of_group

CONFIG = make_config(SHAPES[1], depth=1)
DTYPES = [torch.float32, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("images", [1, 2, 5])
@pytest.mark.parametrize("most", [1, 2, 3, 100])
def test_every_table_is_in_one_group(dtype, images, most, monkeypatch):
    monkeypatch.setattr(tables, "CACHE", most * CONFIG.tokens**2 * dtype.itemsize)
    found = groups(CONFIG, images, dtype)
    assert [table for group in found for table in range(group.start, group.stop)] == list(range(images * CONFIG.heads))
    assert all(1 <= group.stop - group.start <= most for group in found)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("most", [1, 2, 3, 100])
def test_a_group_has_the_arrays_of_its_tables(dtype, most, monkeypatch):
    monkeypatch.setattr(tables, "CACHE", most * CONFIG.tokens**2 * dtype.itemsize)
    images, parts, n, h, dh = 3, 3, CONFIG.tokens, CONFIG.heads, CONFIG.head_width
    rows = torch.randn(images * n, parts * h * dh).to(dtype)
    held = HeadRows(CONFIG, images, parts, dtype)
    held.put(rows)
    assert torch.equal(held.rows(), rows)
    cut = rows.view(images, n, parts, h, dh)
    for group in groups(CONFIG, images, dtype):
        for place, table in enumerate(range(group.start, group.stop)):
            image, head = divmod(table, h)
            assert torch.equal(of_group(held.view, group)[:, place], cut[image, :, :, head].transpose(0, 1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_written_head_by_head_stands_in_the_rows(dtype):
    held = HeadRows(CONFIG, 2, 1, dtype)
    last = groups(CONFIG, 2, dtype)[-1]
    held.view.zero_()
    of_group(held.view, last)[:, -1, 2, 1] = 7  # row 2, column 1 of the last head of the second image
    row, column = CONFIG.tokens + 2, (CONFIG.heads - 1) * CONFIG.head_width + 1
    assert held.rows().nonzero().tolist() == [[row, column]]
