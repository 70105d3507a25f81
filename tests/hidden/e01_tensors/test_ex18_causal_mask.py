"""What grades causal_mask: offsets, -inf, dtypes, memory, devices."""

import math
from functools import partial

import pytest
import torch

from grader.checks import (
    expect_copy,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_raises,
    expect_that,
    peak_bytes,
    unchanged,
)
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated, on_host

PLANES = [(3, 3), (2, 5), (1, 4), (4, 5), (1, 1), (0, 0), (0, 5)]
DIMS = "query key"


def plain_mask(queries, keys):
    rows = [[key <= query + keys - queries for key in range(keys)] for query in range(queries)]
    return torch.tensor(rows, dtype=torch.bool).reshape(queries, keys)


def plain_scores(scores):
    visible = plain_mask(*scores.shape[-2:])
    return torch.where(visible, scores, torch.full_like(scores, -math.inf))


def distinct(sizes, dtype=torch.float32):
    return (torch.arange(torch.Size(sizes).numel()) + 1).to(dtype).view(sizes)


MASKS = {plane: plain_mask(*plane) for plane in [*PLANES, (5, 2103), (2, 33000)]}


def test_mask(answer):
    """Each query sees its own position and all before it, counted from the end of the keys."""
    for (queries, keys), wanted in MASKS.items():
        expect_equal(answer.causal_mask(queries, keys), wanted, f"causal_mask({queries}, {keys})", dims=DIMS)


def scores_of(leads):
    for lead in leads:
        for plane in PLANES:
            scores = distinct((*lead, *plane))
            yield scores, plain_scores(scores)


SCORES = {"none": list(scores_of([()])), "some": list(scores_of([(3,), (1, 2), (2, 3, 2)]))}
SCORES["empty"] = list(scores_of([(0, 2)]))


@pytest.mark.parametrize("leads", SCORES)
def test_scores(answer, leads):
    """Hidden scores become -inf and visible ones stay, for any number of leading dimensions."""
    for scores, wanted in SCORES[leads]:
        call = f"mask_scores(scores) of shape {tuple(scores.shape)}"
        expect_equal(answer.mask_scores(scores.clone()), wanted, call)


def scores_in(dtype):
    for sizes in [(2, 3, 4), (5, 300)]:
        yield distinct(sizes, dtype), plain_scores(distinct(sizes, dtype))


IN_DTYPES = [pair for dtype in (torch.float16, torch.bfloat16, torch.float64) for pair in scores_in(dtype)]


def rounded(scores):
    queries, keys = scores.shape[-2:]
    at = torch.arange(keys, dtype=scores.dtype)
    return scores.masked_fill(at > at[keys - queries :, None], -math.inf)


def test_dtype_is_kept(answer):
    """Scores keep their dtype, and hidden ones are -inf in each."""
    for scores, wanted in IN_DTYPES:
        call = f"mask_scores(scores) of shape {tuple(scores.shape)} in {scores.dtype}"
        suspects = {f"positions are counted in {scores.dtype}, which rounds them": partial(rounded, scores)}
        expect_equal(answer.mask_scores(scores.clone()), wanted, call, suspects=suspects)


def test_garbage_in_the_future(answer):
    """inf and NaN at hidden positions become -inf; at visible ones they stay."""
    scores = torch.tensor([[0.0, math.nan, math.inf], [-math.inf, math.nan, -math.inf], [math.inf, 0.0, 3.0]])
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        wanted, call = plain_scores(scores.to(dtype)), f"mask_scores(scores) with inf and NaN in {dtype}"
        expect_equal(answer.mask_scores(scores.to(dtype)), wanted, call, dims=DIMS)


def test_strided_scores(answer):
    """Transposed and expanded scores are masked like any others."""
    for scores in (
        distinct((3, 2, 4, 3)).permute(1, 0, 3, 2),
        distinct((1, 3, 4)).expand(2, 3, 4),
        distinct((4, 5))[1:, 1:],
        distinct((4, 3)).mT,
        distinct((1, 4)).expand(3, 4),
    ):
        wanted = plain_scores(scores)
        expect_equal(answer.mask_scores(scores), wanted, "mask_scores(scores) of strided scores")


@pytest.mark.parametrize("plane", [(3, 4), (1, 4)], ids=str)
def test_scores_are_left_alone(answer, plane):
    """The result is a new tensor, also where a single query sees every key."""
    scores = distinct((2, *plane))
    with torch.no_grad(), unchanged("mask_scores(scores) under no_grad", scores=scores):
        answer.mask_scores(scores)
    with unchanged("mask_scores(scores)", scores=scores):
        masked = answer.mask_scores(scores)
    expect_copy(masked, scores, f"mask_scores(scores) of shape {tuple(scores.shape)}")


def test_masks_are_independent(answer):
    """Writing into one mask changes no other place of it, nor the next one."""
    for queries, keys in ((3, 4), (1, 4)):
        call, wanted = f"causal_mask({queries}, {keys})", plain_mask(queries, keys)
        mask = answer.causal_mask(queries, keys)
        mask[0, 0] = False
        written = wanted.clone()
        written[0, 0] = False
        expect_equal(mask, written, f"mask = {call}, after mask[0, 0] = False", dims=DIMS)
        expect_equal(answer.causal_mask(queries, keys), wanted, f"{call}, called again", dims=DIMS)


def test_one_mask_for_the_whole_batch(answer):
    """Beyond the result, memory for a few planes is enough for a batch of 96."""
    plane = 8 * 8
    for kind, scores in {
        "contiguous": torch.zeros(24, 4, 8, 8),
        "transposed": torch.zeros(4, 24, 8, 8).permute(1, 0, 3, 2),
        "sliced": torch.zeros(96, 8, 9)[..., 1:],
        "float16": torch.zeros(96, 8, 8, dtype=torch.float16),
    }.items():
        peak = peak_bytes(lambda scores=scores: answer.mask_scores(scores))
        result = 96 * plane * scores.itemsize
        expect_that(
            peak <= result + 48 * plane,
            "mask_scores(scores) holds more than the result and a few (query, key) planes",
            yours=f"{peak} bytes at once for {kind} scores",
            wanted=f"{result} bytes for the result, and at most {48 * plane} more",
            likely="a mask, a fill value or a copy for every element of the batch; one plane broadcasts",
        )


def test_no_loop(answer):
    """The number of operations does not grow with queries, keys or the batch."""
    expect_flat_cost(lambda n: lambda: answer.causal_mask(n, n), "causal_mask(n, n)")

    def make(n):
        scores = torch.zeros(n, n, n)
        return lambda: answer.mask_scores(scores)

    expect_flat_cost(make, "mask_scores(scores)", over="n (n, n, n)")


def test_gradient(answer, gen):
    """Gradients pass to visible scores unchanged, and are 0 at hidden ones."""

    def visible_part(function, plane):
        return lambda scores: function(scores).masked_fill(~plain_mask(*plane), 0.0)

    padded = torch.randn(2, 3, 4, generator=gen)
    padded[:, 0, 2:], padded[0, 1, 3] = math.nan, math.inf
    plain, fresh = torch.randn(1, 4, generator=gen), torch.randn(3, 11, generator=gen)
    with torch.inference_mode():  # a mask that is kept from here cannot be saved for a backward
        answer.mask_scores(fresh), answer.causal_mask(3, 11)
    for scores in (padded, torch.randn(3, 4, generator=gen).half(), plain, fresh):
        plane = scores.shape[-2:]
        expect_gradients(
            visible_part(answer.mask_scores, plane),
            [scores],
            visible_part(plain_scores, plane),
            gen=gen,
            call="mask_scores(scores)",
            names="scores",
        )


def test_made_on_the_device(answer, device):
    """Masks are made on the device that is asked for; scores are masked where they are."""
    wanted_mask, wanted = plain_mask(2, 3), plain_scores(distinct((2, 2, 3)))
    answer.causal_mask(2, 3), answer.mask_scores(distinct((2, 2, 3)))  # a mask kept from here is on the CPU
    there = distinct((2, 2, 3)).to(device)
    with count_traffic() as traffic:
        mask = answer.causal_mask(2, 3, device)
        masked = answer.mask_scores(there)
    expect_that(is_simulated(mask), "causal_mask(2, 3, device) is on another device", yours=mask)
    expect_that(is_simulated(masked), "mask_scores(scores) is on another device than scores", yours=masked)
    expect_equal(on_host(mask), wanted_mask, "causal_mask(2, 3, device)", dims=DIMS)
    expect_equal(on_host(masked), wanted, "mask_scores(scores) on a device")
    expect_no_traffic(traffic, "causal_mask and mask_scores", waits=True)


def test_default_device(answer, device):
    """Without a device, the mask is made on PyTorch's default device."""
    on_cpu = answer.causal_mask(2, 3)
    expect_that(on_cpu.device.type == "cpu", "causal_mask(2, 3) is not on the CPU, the default", yours=on_cpu)
    with device:
        mask = answer.causal_mask(2, 3)
    expect_that(mask.device == device, "causal_mask(2, 3) is not on the default device", yours=mask)
    there = answer.causal_mask(1, 1, device=device)
    expect_that(there.device == device, "causal_mask(1, 1, device=device) is on another device", yours=there)


def test_too_many_queries(answer):
    """More queries than keys is refused, by one and by many, with and without a batch."""
    for queries, keys in [(4, 3), (1, 0), (9, 2)]:
        call = f"causal_mask({queries}, {keys})"
        expect_raises(ValueError, lambda q=queries, k=keys: answer.causal_mask(q, k), call)
        for lead in [(2,), (), (0,), (2, 3), (3, 0)]:
            scores = torch.zeros(*lead, queries, keys)
            call = f"mask_scores(scores) of shape {tuple(scores.shape)}"
            expect_raises(ValueError, lambda s=scores: answer.mask_scores(s), call)


def oracle(answer, gen):
    scores = torch.randn(2, 3, 5, generator=gen, requires_grad=True)
    masked = answer.mask_scores(scores)
    masked.backward(torch.randn(masked.shape, generator=gen))
    square = answer.mask_scores(torch.randn(4, 4, generator=gen, dtype=torch.float64))
    return [masked.detach(), scores.grad, square, answer.causal_mask(3, 5), answer.causal_mask(4, 4)]
