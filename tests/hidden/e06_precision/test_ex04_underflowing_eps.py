"""What grades to_shares: rows of zeros, subnormals, overflow, roundings, gradients, layouts, the device."""

import math

import pytest
import torch

from grader.checks import expect_equal, expect_flat_cost, expect_gradients, expect_that, unchanged
from grader.checks.devices import count_traffic, expect_no_traffic, on_host
from grader.checks.rounding import expect_rounded

HALF, BRAIN, SINGLE, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64
KINDS = [HALF, BRAIN, SINGLE, DOUBLE]
CALL = "to_shares(weights)"


def formula(weights):
    """The shares, for float64; rows of zeros are cut off."""
    total = weights.sum(-1, keepdim=True)
    empty = total == 0
    return (weights / total.masked_fill(empty, 1.0)).masked_fill(empty, 0.0)


def expect_shares(answer, weights, note):
    """Compare with a run in float64: one rounding, and what a sum in float32 or float64 may lose."""
    exact = formula(on_host(weights.detach()).double())
    wide = torch.promote_types(weights.dtype, SINGLE)
    slack = (weights.shape[-1] + 3) * torch.finfo(wide).eps * exact
    expect_rounded(answer.to_shares(weights).detach(), exact, weights.dtype, f"{CALL} {note}", slack=slack)


def drawn(gen, *shape, dtype=SINGLE, low=0.5, high=4.0):
    return (low + (high - low) * torch.rand(*shape, generator=gen, dtype=DOUBLE)).to(dtype)


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_rows_of_zeros(answer, gen, dtype):
    """Rows of zeros give zeros, next to others and alone."""
    weights = drawn(gen, 4, 3, dtype=dtype)
    weights[1] = 0
    expect_shares(answer, weights, f"with a row of zeros in {dtype}")
    for shape in ((5,), (1,), (2, 3), (2, 1, 4)):
        zeros = torch.zeros(shape, dtype=dtype)
        expect_equal(answer.to_shares(zeros), zeros, f"{CALL} of zeros of shape {shape} in {dtype}")


@pytest.mark.parametrize(
    ("dtype", "sizes"),
    [
        (HALF, [2.0**-24, 1e-6, 6e-5, 1e-3, 1e4]),
        (BRAIN, [1e-30, 1e-12, 1e-8, 1e-3, 1e29]),
        (SINGLE, [1e-30, 1e-12, 1e-8, 1e-3, 1e29]),
        (DOUBLE, [1e-30, 1e-17, 1e-12, 1e-8, 1e29]),
    ],
    ids=lambda value: str(value) if isinstance(value, torch.dtype) else "",
)
def test_guard_is_for_zeros_alone(answer, gen, dtype, sizes):
    """Small and large weights get the same shares as others, down to subnormals: no eps is to be felt."""
    for size in sizes:
        weights = (torch.randint(1, 7, (5, 3), generator=gen).double() * size).to(dtype)
        expect_shares(answer, weights, f"of weights near {size:.1g} in {dtype}")
        expect_shares(answer, weights[0], f"of one row near {size:.1g} in {dtype}")
        single = weights.clone()
        single[:, 1:] = 0
        expect_shares(answer, single, f"of one expert near {size:.1g} in {dtype}")
    rows = torch.tensor([[size, 3 * size, 0.0] for size in sizes] + [[0.0] * 3], dtype=DOUBLE).to(dtype)
    expect_shares(answer, rows, f"of rows of all sizes in {dtype}")


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_one_rounding(answer, gen, dtype):
    """Shares are as near to a float64 run as one rounding brings them, also in long rows."""
    for shape in ((200, 3), (40, 7), (3, 500)):
        expect_shares(answer, drawn(gen, *shape, dtype=dtype), f"of shape {shape} in {dtype}")
    wide = drawn(gen, 6, 2, dtype=dtype)
    wide[:, 0] *= 1e-4
    expect_shares(answer, wide, f"of unequal weights in {dtype}")
    leaf = drawn(gen, 90, 7, dtype=dtype).requires_grad_()
    expect_shares(answer, leaf, f"of weights that require a gradient in {dtype}")


def test_overflow(answer, gen):
    """Sums beyond 65504 are no trouble for float16, nor are shares below its subnormals."""
    expect_shares(answer, drawn(gen, 3, 40, dtype=HALF, low=3e4, high=6e4), "near 50000 in float16")
    expect_shares(answer, torch.full((65504,), 2.0, dtype=HALF), "of 65504 experts in float16")
    expect_shares(
        answer, torch.tensor([[65504.0, 2.0**-24], [65504.0, 65504.0]]).half(), "of the ends of float16"
    )


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_inf_and_nan(answer, gen, dtype):
    """A row with inf or NaN is not made to look right, and harms no other."""
    weights = drawn(gen, 5, 3, dtype=dtype)
    weights[3] = 0
    others = [2, 3, 4]
    wanted = formula(weights.double())
    weights[0, 1], weights[1, 2] = math.inf, math.nan
    yours = answer.to_shares(weights)
    for row in (0, 1):
        hidden = bool(yours[row].isfinite().all())
        expect_that(not hidden, f"a row with inf or NaN gets shares in {dtype}", yours=yours[row])
    slack = 10 * torch.finfo(torch.promote_types(dtype, SINGLE)).eps
    expect_rounded(yours[others], wanted[others], dtype, f"{CALL} next to inf and NaN", slack=slack)
    for strange in (math.inf, math.nan):
        alone = torch.tensor([0.0, strange, 0.0]).to(dtype)
        yours = answer.to_shares(alone)
        call = f"a row of {strange} and zeros gets shares in {dtype}"
        expect_that(not bool(yours.isfinite().all()), call, yours=yours)


@pytest.mark.parametrize("dtype", KINDS, ids=str)
@pytest.mark.parametrize("size", [1e-3, 1.0, 100.0])
def test_gradients(answer, gen, dtype, size):
    """Gradients flow through the weights and through their sum, in the dtype of weights."""
    for shape in ((4, 3), (2, 3, 2), (5,)):
        weights = drawn(gen, *shape, low=1.0, high=9.0).mul(size).to(dtype)
        weights.view(-1)[1] = 0
        call = f"{CALL} near {size:g} in {dtype}"
        # the parts that cancel are as large as one over the sum
        scale = 1 / float(weights.double().sum(-1).min())
        expect_gradients(
            answer.to_shares, [weights], formula, gen=gen, call=call, names="weights", scale=scale
        )


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_gradient_of_zeros(answer, gen, dtype):
    """Rows of zeros have a gradient of zeros, and leave that of the others as it is."""
    for rows, experts in (([0], 4), ([0, 1, 2], 4), ([2], 4), ([1], 1)):
        weights = drawn(gen, 3, experts, dtype=dtype)
        weights[rows] = 0
        leaf = weights.clone().requires_grad_()
        exact = weights.double().requires_grad_()
        pull = torch.randn(3, experts, generator=gen).to(dtype)
        (wanted,) = torch.autograd.grad(formula(exact), exact, pull.double())
        shares = answer.to_shares(leaf)
        expect_that(shares.requires_grad, f"no gradient flows through {CALL}", yours=shares)
        (yours,) = torch.autograd.grad(shares, leaf, pull)
        call = f"the gradient for weights of 3 x {experts} with rows {rows} of zeros in {dtype}"
        zeros = torch.zeros(len(rows), experts, dtype=dtype)
        expect_equal(yours[rows] + 0.0, zeros, f"{call}, there")
        slack = 8 * torch.finfo(dtype).eps * pull.double().abs().sum(-1, keepdim=True)
        expect_rounded(yours, wanted, dtype, call, slack=slack)
    row = torch.zeros(3, dtype=dtype, requires_grad=True)
    (yours,) = torch.autograd.grad(answer.to_shares(row)[0], row)
    expect_equal(yours + 0.0, torch.zeros(3, dtype=dtype), f"the gradient for one row of zeros in {dtype}")


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_shapes_and_layouts(answer, gen, dtype):
    """Any number of dimensions, also of size 0, and any layout; weights are left alone."""
    for shape in ((3,), (1, 1), (1, 4), (4, 1), (3, 3), (2, 3, 4), (2, 1, 3, 5)):
        weights = drawn(gen, *shape, dtype=dtype)
        with torch.no_grad(), unchanged(f"{CALL} under no_grad", weights=weights):
            expect_shares(answer, weights, f"of shape {shape} in {dtype}")
    for shape in ((0, 3), (2, 0, 3), (3, 0), (0,), (0, 0)):
        empty = torch.zeros(shape, dtype=dtype)
        expect_equal(answer.to_shares(empty), empty, f"{CALL} of shape {shape} in {dtype}")
    x = drawn(gen, 6, 8, dtype=dtype)
    x[2], x[:, 4] = 0, 0
    before = x.clone()
    for how, weights in {
        "transposed": x.t(),
        "strided": x[::2, 1::3],
        "expanded": x[:, None, :3].expand(6, 2, 3),
        "expanded experts": x[:, 4:6].sum(-1, keepdim=True).expand(6, 5),
    }.items():
        expect_shares(answer, weights, f"{how} in {dtype}")
    expect_equal(x, before, f"weights after {CALL}")


def test_no_loop(answer, gen):
    """The work does not grow with the rows, the experts, or the dimensions in front."""
    for over, shape in (
        ("rows", lambda n: (n, 3)),
        ("experts", lambda n: (3, n)),
        ("batches", lambda n: (n, 2, 3)),
    ):

        def make(n, shape=shape):
            weights = drawn(gen, *shape(n), dtype=HALF)
            weights[0] = 0
            return lambda: answer.to_shares(weights)

        expect_flat_cost(make, CALL, over=over)


@pytest.mark.parametrize("dtype", [HALF, SINGLE], ids=str)
def test_on_a_device(answer, gen, device, dtype):
    """On another device the shares are made there, and no number is copied."""
    weights = drawn(gen, 4, 3, dtype=dtype)
    weights[2] = 0
    there = weights.to(device)
    with count_traffic() as traffic:
        yours = answer.to_shares(there)
    expect_equal(yours.device.type, device.type, f"the device of {CALL}")
    exact = formula(weights.double())
    slack = 10 * torch.finfo(SINGLE).eps
    expect_rounded(on_host(yours), exact, dtype, f"{CALL} on another device", slack=slack)
    expect_no_traffic(traffic, CALL, waits=True)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_on_a_gpu(answer, gen, dtype):
    """On a GPU the shares are the same, of zeros and of small weights too."""
    weights = drawn(gen, 50, 7, dtype=dtype)
    weights[2], weights[4:9] = 0, weights[4:9] * 2.0**-20
    yours = answer.to_shares(weights.cuda())
    expect_equal(yours.device.type, "cuda", f"the device of {CALL}")
    exact = formula(weights.double())
    slack = 10 * torch.finfo(torch.promote_types(dtype, SINGLE)).eps * exact
    expect_rounded(yours.cpu(), exact, dtype, f"{CALL} on a GPU in {dtype}", slack=slack)


def oracle(answer, gen):
    results = []
    for dtype in KINDS:
        for size in (2.0**-20, 1.0, 1000.0):
            weights = drawn(gen, 4, 3, dtype=dtype) * size
            weights[1] = 0
            weights.requires_grad_()
            shares = answer.to_shares(weights)
            results.append(shares.detach())
            if size == 1.0:
                pull = torch.randn(4, 3, generator=gen).to(dtype)
                results.append(torch.autograd.grad(shares, weights, pull)[0])
    return results
