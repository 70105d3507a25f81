"""What grades clip_by_global_norm: PyTorch's steps, missing gradients; dtypes, memory, norms of inf, cost."""

import copy
import math
from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import count_operations, expect_close, expect_equal, expect_that, forbid_files
from grader.checks.contract import Contract, errors, given, values
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


def longer(gen, times, **options):
    """Gradients that are so many times longer than they may be."""
    params = parameters(gen, **options)
    return given(params, float(f"{length(p.grad for p in params) / times:.4g}"))


def missing(gen):
    params = parameters(gen)
    params[0].grad = params[2].grad = None
    return given(params, 0.1)


def spoilt(gen, bad):
    params = parameters(gen)
    params[2].grad[1] = bad
    return given(params, 1.0)


def length(tensors):
    """The norm of all numbers, in float64 where there are any."""
    return sum((t.detach().double().square().sum() for t in tensors), torch.tensor(0.0)).sqrt()


def shrink(gradient, norm, max_norm):
    return gradient * min(1.0, max_norm / (float(norm) + 1e-6))


def written_out(params, max_norm, tell=lambda norm, params, max_norm: norm, change=shrink):
    """The norm, once the gradients have shrunk; or with a mistake in either."""
    held = [p for p in params if p.grad is not None]
    norm = length(p.grad for p in held)
    told = tell(norm, held, max_norm)
    for p in held if norm.isfinite() else ():
        p.grad = change(p.grad.double(), norm, max_norm).to(p.grad.dtype)
    exact = any(p.grad.dtype is torch.float64 for p in held)
    return told.to(torch.float64 if exact else torch.float32)


def wrong(**how):
    return partial(written_out, **how)


contract = Contract(
    CALL,
    reference=written_out,
    inputs=lambda gen: {
        "gradients that are much too long": longer(gen, 100.0),
        "gradients that are twice too long": longer(gen, 2.0),
        "gradients that are almost too long": longer(gen, 0.67),
        "short gradients": longer(gen, 0.33),
    },
    after="params.grad",
    widens=False,
    suspects={
        "the parameters' norms are added up: take the norm of all numbers": wrong(
            tell=lambda norm, params, max_norm: sum(p.grad.double().norm() for p in params)
        ),
        "the largest norm: take the norm of all numbers": wrong(
            tell=lambda norm, params, max_norm: max(p.grad.double().norm() for p in params)
        ),
        "this is the norm after clipping: the one before is asked for": wrong(
            tell=lambda norm, params, max_norm: norm.clamp(max=max_norm)
        ),
        "this is the norm of the parameters, not of their gradients": wrong(
            tell=lambda norm, params, max_norm: length(params)
        ),
        "each parameter is clipped by its own norm": wrong(
            change=lambda g, norm, max_norm: shrink(g, g.norm(), max_norm)
        ),
        "each number is clipped by itself": wrong(
            change=lambda g, norm, max_norm: g.clamp(-max_norm, max_norm)
        ),
        "all become max_norm long: only longer ones shrink": wrong(
            change=lambda g, norm, max_norm: g * max_norm / norm
        ),
    },
    job=[
        values(title="Longer gradients shrink to max_norm, all by one factor; shorter ones stay."),
        values(
            inputs=lambda gen: {"parameters of which some have no gradient": missing(gen)},
            name="missing_gradients",
            title="Where `.grad` is None it stays None.",
        ),
    ],
    fine=[
        values(
            inputs=lambda gen: {"gradients of 1e-4": longer(gen, 2.0, size=1e-4)},
            name="the_small_number",
            title="Gradients shrink by max_norm / (norm + 1e-6), which shows where they are small.",
        ),
        values(
            inputs=lambda gen: [given(parameters(gen), bound) for bound in (0.0, math.inf)],
            name="extreme_bounds",
            title="With max_norm=0 all become 0; with inf none changes.",
        ),
        values(
            inputs=lambda gen: {
                "no parameters": given([], 1.0),
                "a parameter without a gradient": given([nn.Parameter(torch.ones(3))], 1.0),
            },
            name="no_gradients",
            title="Without any gradient the norm is 0, in float32.",
        ),
        values(
            inputs=lambda gen: {
                f"gradients of {size} in {dtype}": longer(gen, 4.0, dtype=dtype, size=size)
                for dtype in (torch.float64, torch.float16, torch.bfloat16)
                for size in (300.0, 1.0)
            },
            name="dtypes",
            title="The norm is float32, or float64 with a float64 gradient; float16 does not overflow.",
        ),
        values(
            inputs=lambda gen: {f"a gradient with {bad}": spoilt(gen, bad) for bad in (math.inf, math.nan)},
            name="not_finite",
            title="A norm of inf or NaN comes back, and no gradient changes: none becomes 0 or NaN.",
        ),
        errors(
            ValueError,
            lambda gen: [given(parameters(gen), bound) for bound in (-1.0, math.nan)],
            name="bad_bounds",
            title="A bound that is negative or NaN raises ValueError.",
        ),
    ],
)


def test_generator(answer, gen):
    """A generator of parameters is read once."""
    params = parameters(gen)
    norm = length(p.grad for p in params)
    answer.clip_by_global_norm((p for p in params), 0.5)
    used_up = {"nothing is clipped: a generator is used up by one loop": lambda: norm.float()}
    what = "the norm of the gradients after clip_by_global_norm(model.parameters(), 0.5)"
    expect_close(length(p.grad for p in params).float(), torch.tensor(0.5), what, ulps=64, suspects=used_up)


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


def test_own_computation(answer, gen):
    """The clipping is computed here, not in torch.nn.utils."""
    with forbid_files(CALL, "torch/nn/utils/"):
        answer.clip_by_global_norm(parameters(gen), 0.5)


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
    factor = 0.5 / (float(length(p.grad for p in [w, b, s])) + 1e-6)
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
        there = [nn.Parameter(p.detach().to(device)) for p in params]
        for p, original in zip(there, params, strict=True):
            p.grad = original.grad.to(device)
        with count_traffic() as traffic:
            yours = answer.clip_by_global_norm(there, bound)
        norm = written_out(params, bound)
        expect_equal(traffic.syncs, 0, f"the times that the host waits for the device in {CALL}")
        expect_close(yours, norm.to(device), f"{CALL} on another device")
        for p, twin in zip(there, params, strict=True):
            expect_close(p.grad, twin.grad.to(device), f"a gradient on another device after {CALL}")
