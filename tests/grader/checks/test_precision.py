"""The dtypes that an answer computes in are seen where autocast puts them."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks.cost.precision import (
    compute_dtypes,
    default_dtype,
    expect_all_in,
    expect_products_in,
    product_dtypes,
)
from grader.checks.failure import CheckFailure


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_products_under_autocast(dtype: torch.dtype) -> None:
    layers = (
        (nn.Linear(3, 4), torch.rand(2, 3)),
        (nn.Conv2d(2, 3, 3), torch.rand(1, 2, 5, 5)),
        (lambda q: F.scaled_dot_product_attention(q, q, q), torch.rand(1, 2, 4, 8)),
        (lambda x: x @ x.mT, torch.rand(2, 3, 4)),
        (lambda x: torch.einsum("ij,kj->ik", x, x), torch.rand(3, 4)),
    )
    for layer, x in layers:
        with compute_dtypes() as low, torch.autocast("cpu", dtype=dtype):
            layer(x)
        with compute_dtypes() as full:
            layer(x)
        assert (product_dtypes(low), product_dtypes(full)) == ({dtype}, {torch.float32})


def test_casts_compute_nothing() -> None:
    with compute_dtypes() as seen:
        torch.rand(3).bfloat16().float().sum()
    expect_all_in(seen, torch.float32, "a sum")


def test_backward_counts_and_blocks_nest() -> None:
    layer = nn.Linear(3, 4)
    with compute_dtypes() as outer:
        with compute_dtypes() as inner, torch.autocast("cpu", dtype=torch.bfloat16):
            out = layer(torch.rand(2, 3))
        out.float().sum().backward()
    assert "mm" not in inner
    assert outer["mm"] == {torch.bfloat16}


def test_each_check_fails() -> None:
    with compute_dtypes() as seen:
        torch.rand(2, 2).bfloat16() @ torch.rand(2, 2).bfloat16() + torch.rand(2)
    with pytest.raises(
        CheckFailure, match=r"the forward pass\n  yours   torch.bfloat16\n  wanted  torch.float16"
    ):
        expect_products_in(seen, torch.float16, "the forward pass")
    with pytest.raises(CheckFailure, match="none at all"):
        expect_products_in({}, torch.float16, "the forward pass")
    with pytest.raises(CheckFailure, match=r"yours   add in torch.bfloat16, mm in torch.bfloat16\n"):
        expect_all_in(seen, torch.float32, "the loss")


def test_the_default_dtype_is_set_for_the_block_alone() -> None:
    before = torch.get_default_dtype()
    with pytest.raises(ValueError), default_dtype(torch.float64):
        assert torch.ones(1).dtype == torch.float64
        raise ValueError
    assert torch.get_default_dtype() == before
