"""What grades merge_heads: order of numbers, gradients, views, devices, cost."""

import pytest
import torch

from grader.checks import (
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_that,
    expect_view,
    shares_storage,
    unchanged,
)
from grader.checks.devices import count_traffic, expect_no_traffic, on_host

SIZES = [
    (2, 3, 4, 5),
    (1, 2, 7, 3),
    (3, 4, 1, 2),
    (2, 1, 3, 4),
    (1, 1, 3, 4),
    (2, 1, 1, 3),
    (0, 2, 3, 4),
    (2, 3, 0, 4),
    (2, 3, 4, 0),
]


def side_by_side(x):
    """Head after head, built by concatenation: slow and plain."""
    return torch.cat(x.unbind(1), dim=-1)


def distinct(sizes, dtype=torch.float32):
    count = torch.Size(sizes).numel()
    return torch.arange(count, dtype=dtype).view(sizes)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_heads_lie_side_by_side(answer, sizes):
    """At every position the numbers of head 0 come first, then those of head 1, for all sizes."""
    empty = 0 in sizes
    x = distinct(sizes, torch.float64 if empty else torch.float32).requires_grad_(empty)
    wanted, yours = side_by_side(x), answer.merge_heads(x)
    expect_equal(yours, wanted, "merge_heads(x)", dims="batch time width")
    if empty:
        expect_that(yours.requires_grad, f"no gradient flows through merge_heads(x) of an x of shape {sizes}")


def test_strided_input(answer):
    """Inputs that are not contiguous, expanded, or part of a larger tensor are merged like any others."""
    whole = distinct((3, 4, 4, 5)).clone()
    parts = {"a part of a larger tensor": whole[1:], "a transposed part": whole[1:].transpose(1, 2)}
    parts["the last position of a larger tensor"] = whole[:, :, -1:]
    parts["the queries of a joint projection"] = distinct((2, 4, 3, 2, 5))[:, :, 0].transpose(1, 2)
    parts["a number that each head repeats"] = whole[..., :1].expand(3, 4, 4, 5).transpose(1, 2)
    for name, part in {**parts, "a view of the same shape": whole.view(3, 4, 4, 5)}.items():
        wanted, call = side_by_side(part.clone()), f"merge_heads(x) of {name}"
        packed = part.as_strided(wanted.shape, wanted.stride(), part.storage_offset())
        suspects = {"x is read in the order of memory, past its strides": packed.clone}
        suspects = {} if part.is_contiguous() else suspects  # of those a reshape gives the same
        expect_equal(answer.merge_heads(part), wanted, call, dims="batch time width", suspects=suspects)
    strided = distinct((5, 4, 3, 2)).permute(3, 2, 1, 0)
    wanted = side_by_side(strided)
    expect_equal(
        answer.merge_heads(strided), wanted, "merge_heads(x) of a permuted x", dims="batch time width"
    )
    expanded = distinct((1, 3, 4, 5)).expand(2, 3, 4, 5)
    wanted = side_by_side(expanded)
    expect_equal(
        answer.merge_heads(expanded), wanted, "merge_heads(x) of an expanded x", dims="batch time width"
    )


@pytest.mark.parametrize(
    "dtype", [torch.int64, torch.bool, torch.bfloat16, torch.float64, torch.complex64], ids=str
)
def test_dtype_is_kept(answer, dtype):
    """Every dtype comes out as it went in."""
    x = (distinct((2, 3, 2, 2)) % 3).to(dtype)
    wanted = side_by_side(x)
    expect_equal(answer.merge_heads(x), wanted, "merge_heads(x)", dims="batch time width")


def test_no_copy_where_none_is_needed(answer):
    """Heads that already lie side by side in memory are merged without a copy."""
    whole = distinct((3, 4, 15)).clone()
    for merged in (whole[:2], whole, whole[1:], whole[:1], whole[:, :1].clone()):
        split = merged.view(*merged.shape[:2], 3, 5).transpose(1, 2)
        wanted, yours = merged.clone(), answer.merge_heads(split)
        expect_view(yours, split, "merge_heads(x) of a transposed view")
        expect_equal(yours, wanted, "merge_heads(x) of a transposed view", dims="batch time width")
    one = whole.view(3, 4, 1, 15).transpose(1, 2)
    expect_view(answer.merge_heads(one), one, "merge_heads(x) of one head in a transposed view")
    numbers = whole.view(3, 4, 15, 1).transpose(1, 2)
    expect_view(answer.merge_heads(numbers), numbers, "merge_heads(x) of heads of one number, transposed")
    split = whole.view(3, 4, 3, 5).transpose(1, 2).requires_grad_()
    expect_view(answer.merge_heads(split), split, "merge_heads(x) of a transposed view with requires_grad")


def test_input_is_left_alone(answer):
    """x keeps its values and its shape, and the result of a copy is no window onto it."""
    x = distinct((2, 3, 4, 5))
    with unchanged("merge_heads(x)", x=x):
        merged = answer.merge_heads(x)
        expect_that(not shares_storage(merged, x), "a merged copy shares the memory of x")


def test_gradient(answer, gen):
    """The gradient of each merged number reaches the number of x that it came from."""
    x = torch.randn(2, 3, 4, 5, generator=gen)
    expect_gradients(answer.merge_heads, [x], side_by_side, gen=gen, call="merge_heads(x)", names="x")

    def of_transposed(merge):
        return lambda y: merge(y.transpose(1, 2))

    fn, reference = of_transposed(answer.merge_heads), of_transposed(side_by_side)
    call = "merge_heads(x) where nothing is copied"
    expect_gradients(fn, [x], reference, gen=gen, call=call, names="x")


def test_stays_on_the_device(answer, device):
    """Heads on another device are merged there, without a trip through the CPU."""
    x = distinct((2, 3, 4, 5))
    wanted = side_by_side(x)
    there = x.to(device)
    with count_traffic() as traffic:
        merged = answer.merge_heads(there)
    expect_that(merged.device == there.device, "the result is on another device than x", yours=merged)
    expect_equal(on_host(merged), wanted, "merge_heads(x)", dims="batch time width")
    expect_no_traffic(traffic, "merge_heads(x)")


def test_no_loop_over_heads(answer):
    """The number of operations is the same for 6 heads and for 24."""

    def make(heads):
        x = torch.zeros(2, heads, 3, 4)
        return lambda: answer.merge_heads(x)

    expect_flat_cost(make, "merge_heads(x)", over="heads")


def oracle(answer, gen):
    x = torch.randn(2, 3, 4, 5, generator=gen, requires_grad=True)
    merged = answer.merge_heads(x)
    merged.backward(torch.randn(merged.shape, generator=gen))
    split = torch.randn(2, 4, 15, generator=gen).view(2, 4, 3, 5).transpose(1, 2)
    return [merged.detach(), x.grad, answer.merge_heads(split)]
