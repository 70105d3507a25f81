"""What grades clip_by_global_norm: PyTorch's steps, missing gradients; dtypes, memory, norms of inf, cost."""

import copy
import math
import sys

import pytest
import torch
from torch import nn

from grader.checks import count_operations, expect_close, expect_equal, expect_raises, expect_that
from grader.checks.devices import count_traffic

CALL = "clip_by_global_norm(params, max_norm)"
SHAPES = [(3, 4), (), (5,), (1, 1, 3)]
VIEWS = {
    *("view", "unsafe_view", "reshape", "detach", "alias", "t", "transpose", "permute", "unsqueeze"),
    *("squeeze", "as_strided", "slice", "select", "narrow", "split", "split_with_sizes", "expand"),
    "unflatten",
}


def parameters(gen, shapes=SHAPES, dtype=torch.float32, size=1.0):
    """Leaves with gradients of about the given size."""
    params = []
    for shape in shapes:
        p = nn.Parameter(torch.randn(shape, generator=gen).to(dtype))
        p.grad = (size * torch.randn(shape, generator=gen)).to(dtype)
        params.append(p)
    return params


def norm_of(params):
    """Computed in float64."""
    squares = [p.grad.detach().double().square().sum() for p in params if p.grad is not None]
    return torch.stack(squares).sum().sqrt()


def clipped(params, max_norm):
    """What the gradients should become, in their dtypes."""
    factor = min(1.0, max_norm / (float(norm_of(params)) + 1e-6))
    return [None if p.grad is None else (p.grad.double() * factor).to(p.grad.dtype) for p in params]


def mistakes(params, max_norm):
    """What people get wrong in the norm, and what it gives."""
    norms = [p.grad.double().norm() for p in params if p.grad is not None]
    norm = norm_of(params)
    return {
        "the parameters' norms are added up: take the norm of all numbers": lambda: sum(norms).float(),
        "the largest norm: take the norm of all numbers": lambda: max(norms).float(),
        "this is the norm after clipping: the one before is asked for": lambda: norm.float().clamp(
            max=max_norm
        ),
        "this is the norm of the parameters, not of their gradients": lambda: sum(
            p.detach().square().sum() for p in params
        ).sqrt(),
    }


def expect_clipped(answer, params, max_norm, where="", ulps=32.0):
    wanted, norm, wrong = (
        clipped(params, max_norm),
        norm_of(params),
        mistakes(params, max_norm),
    )
    call = f"clip_by_global_norm(params, {max_norm:.4g}){where}"
    held = [None if p.grad is None else p.grad.clone() for p in params]
    yours = answer.clip_by_global_norm(params, max_norm).detach()
    suspects = wrong if yours.dtype is torch.float32 else None
    expect_close(yours, norm.to(yours.dtype), call, ulps=ulps, suspects=suspects)
    for p, right, was in zip(params, wanted, held, strict=True):
        if right is not None:
            of = f"the gradient of shape {tuple(p.shape)} after {call}"
            itself = was.double() * min(1.0, max_norm / (float(was.double().norm()) + 1e-6))
            alone = {
                "each parameter is clipped by its own norm": lambda x=itself, p=p: x.to(p.dtype),
                "each number is clipped by itself": lambda w=was: w.clamp(-max_norm, max_norm),
            }
            expect_close(p.grad.detach(), right, of, ulps=ulps, suspects=alone, before=was)
    return yours


def test_around_the_bound(answer, gen):
    """Longer gradients shrink to max_norm, all by one factor; shorter ones stay."""
    for share in (0.01, 0.5, 1.5, 3.0):
        params = parameters(gen)
        expect_clipped(answer, params, share * float(norm_of(params)))


def test_steps_beside_pytorch(answer, gen):
    """Step by step, with several groups and missing gradients, the weights are those of PyTorch's."""
    model = nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(3, 2)])
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    twin = copy.deepcopy(model)
    sides = []
    for net in (model, twin):
        groups = [{"params": net[0].parameters(), "lr": 0.5}, {"params": [*net[1:].parameters()]}]
        sides.append((net, torch.optim.SGD(groups, lr=0.1, momentum=0.9, weight_decay=0.1)))
    for step in range(4):
        x = torch.randn(5, 3, generator=gen) * 10.0 ** (step - 1)
        norms = []
        for net, optimizer in sides:
            optimizer.zero_grad()
            hidden = net[1](net[0](x).tanh())
            out = hidden if step % 2 else hidden + net[2](x)  # the last layer is unused in every other step
            out.square().sum().backward()
            every = (p for group in optimizer.param_groups for p in group["params"])
            clip = answer.clip_by_global_norm if net is model else nn.utils.clip_grad_norm_
            norms.append(clip(every, 2.0))
            optimizer.step()
        # Four steps enlarge what another order of the sum rounds off.
        expect_close(norms[0].detach(), norms[1], f"the norm in step {step}", ulps=4096)
        for (name, p), right in zip(model.named_parameters(), twin.parameters(), strict=True):
            expect_close(p.detach(), right.detach(), f"{name} after step {step}", scale=2000.0)


def test_missing_gradients(answer, gen):
    """Where `.grad` is None it stays None; a generator of parameters is read once."""
    params = parameters(gen)
    params[0].grad = params[2].grad = None
    expect_clipped(answer, params, 0.1, " with missing gradients")
    expect_that(params[0].grad is None, f"{CALL} makes a gradient where there is none")
    params = parameters(gen)
    wanted = clipped(params, 0.5)
    answer.clip_by_global_norm((p for p in params), 0.5)
    for p, right in zip(params, wanted, strict=True):
        call = "a gradient after clip_by_global_norm(model.parameters(), 0.5)"
        expect_close(p.grad.detach(), right, call, ulps=32)


def test_own_computation(answer, gen):
    """The clipping is computed here, not in torch.nn.utils."""
    used = set()

    def watch(frame, event, _):
        path = frame.f_code.co_filename.replace("\\", "/")
        if event == "call" and "/torch/nn/utils/" in path:
            used.add(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        answer.clip_by_global_norm(parameters(gen), 0.5)
    finally:
        sys.setprofile(before)
    expect_that(
        not used, f"{CALL} uses torch.nn.utils, which the statement rules out", yours=f"{sorted(used)}"
    )


@pytest.mark.fine
def test_the_small_number(answer, gen):
    """Gradients shrink by max_norm / (norm + 1e-6), which shows where they are small."""
    params = parameters(gen, size=1e-4)
    expect_clipped(answer, params, 0.5 * float(norm_of(params)), " with gradients of 1e-4")


@pytest.mark.fine
def test_extreme_bounds(answer, gen):
    """With max_norm=0 all become 0; with inf none changes."""
    params = parameters(gen)
    before = [p.grad.clone() for p in params]
    answer.clip_by_global_norm(params, math.inf)
    for p, was in zip(params, before, strict=True):
        expect_equal(p.grad, was, "a gradient after clip_by_global_norm(params, inf)")
    answer.clip_by_global_norm(params, 0.0)
    for p in params:
        expect_equal(p.grad.abs(), torch.zeros_like(p), "a gradient after clip_by_global_norm(params, 0.0)")


@pytest.mark.fine
def test_no_gradients(answer):
    """Without any gradient the norm is 0, in float32."""
    for nobody in ([], [nn.Parameter(torch.ones(3))]):
        yours, about = answer.clip_by_global_norm(nobody, 1.0), f"{len(nobody)} parameters without gradients"
        expect_equal(yours, torch.tensor(0.0), f"{CALL} of {about}")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_dtypes(answer, gen, dtype):
    """The norm is float32, or float64 with a float64 gradient; half-precision squares do not overflow."""
    for size in (300.0, 1.0):
        params = parameters(gen, dtype=dtype, size=size)
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        norm = expect_clipped(answer, params, 0.3 * size, f" with {dtype}", ulps=None)
        expect_equal(str(norm.dtype), str(wide), f"the dtype of the norm of {dtype} gradients")
        expect_equal({str(p.grad.dtype) for p in params}, {str(dtype)}, "the gradients' dtypes afterwards")


@pytest.mark.fine
def test_in_place(answer, gen):
    """Gradients that are parts of one buffer, or transposed, change in that memory, and nothing else does."""
    buffer = torch.randn(16, generator=gen, dtype=torch.float64)
    before = buffer.clone()
    w, b, s = nn.Parameter(torch.ones(2, 3).double()), nn.Parameter(torch.ones(4).double()), None
    w.grad, b.grad = buffer[1:7].view(3, 2).t(), buffer[8:16:2]
    s = nn.Parameter(torch.ones(()).double())
    s.grad = buffer[15]
    values = [p.detach().clone() for p in (w, b, s)]
    factor = 0.5 / (float(norm_of([w, b, s])) + 1e-6)
    wanted = before.clone()
    inside = [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 15]
    wanted[inside] *= factor
    answer.clip_by_global_norm([w, b, s], 0.5)
    expect_close(buffer, wanted, f"the buffer that holds the gradients, after {CALL}")
    for p, was in zip((w, b, s), values, strict=True):
        expect_equal(p.detach(), was, f"a parameter itself after {CALL}")


@pytest.mark.fine
def test_same_objects(answer, gen):
    """Every gradient is the same object afterwards, and nothing is recorded."""
    params = parameters(gen)
    held = [p.grad for p in params]
    norm = answer.clip_by_global_norm(params, 0.5)
    same = all(p.grad is was for p, was in zip(params, held, strict=True))
    expect_that(same, f"a `.grad` is another object after {CALL}: it must change in place")
    params[0].grad.requires_grad_(True)
    norm = answer.clip_by_global_norm(params, 0.2)
    expect_that(
        not norm.requires_grad and params[0].grad.is_leaf,
        "the clipping is recorded by autograd",
        likely="do it in `with torch.no_grad():`",
    )


@pytest.mark.fine
@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_not_finite(answer, gen, bad):
    """A norm of inf or NaN comes back, and no gradient changes: none becomes 0 or NaN."""
    params = parameters(gen)
    params[2].grad[1] = bad
    before = [p.grad.clone() for p in params]
    norm = answer.clip_by_global_norm(params, 1.0)
    expect_equal(norm, torch.tensor(bad), f"clip_by_global_norm(params, 1.0) where a gradient holds {bad}")
    for p, was in zip(params, before, strict=True):
        expect_equal(p.grad, was, f"a gradient, where one holds {bad} and none may change, after {CALL}")


@pytest.mark.fine
def test_bad_bounds(answer, gen):
    """A bound that is negative or NaN raises ValueError."""
    for bad in (-1.0, math.nan):
        call = f"clip_by_global_norm(params, {bad})"
        expect_raises(ValueError, lambda bad=bad: answer.clip_by_global_norm(parameters(gen), bad), call)


@pytest.mark.fine
def test_cost(answer, gen):
    """The number of operations is the same for few parameters and many, clipped or not."""
    for bound in (0.1, 1e9):
        counts = []
        for number in (4, 32):
            params = parameters(gen, [(2, 3)] * number)
            count = count_operations(lambda p=params, b=bound: answer.clip_by_global_norm(p, b))
            counts.append(sum(times for name, times in count.items() if name not in VIEWS))
        expect_that(
            counts[1] - counts[0] < 14,
            f"the cost of {CALL} grows with the number of parameters",
            yours=f"{counts[0]} operations for 4 parameters, {counts[1]} for 32",
            likely="a loop over parameters: torch._foreach_norm and torch._foreach_mul_ take all at once",
        )


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """On another device norm and gradients stay there, and the host waits for nothing."""
    params = parameters(gen, dtype=torch.float32)
    for bound in (0.5, 1e6):
        norm, right = norm_of(params), clipped(params, bound)
        there = [nn.Parameter(p.detach().to(device)) for p in params]
        for p, original in zip(there, params, strict=True):
            p.grad = original.grad.to(device)
        with count_traffic() as traffic:
            yours = answer.clip_by_global_norm(there, bound)
        expect_equal(traffic.syncs, 0, f"the times that the host waits for the device in {CALL}")
        expect_close(yours, norm.float().to(device), f"{CALL} on another device")
        for p, wanted in zip(there, right, strict=True):
            expect_close(p.grad, wanted.to(device), f"a gradient on another device after {CALL}")


def oracle(answer, gen):
    def told(share):
        params = parameters(gen, size=2.0)
        norm = answer.clip_by_global_norm(params, share * float(norm_of(params)))
        return [norm.detach(), [p.grad.detach().clone() for p in params]]

    return {
        "gradients that are ten times too long": told(0.1),
        "gradients that are a little too long": told(0.8),
        "gradients that are short enough": told(2.0),
    }
