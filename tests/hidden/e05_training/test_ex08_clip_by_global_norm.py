"""What grades clip_by_global_norm: PyTorch's steps, dtypes, memory, norms of inf, cost, the device."""

import copy
import math
import sys

import pytest
import torch
from torch import nn

from grader.checks import count_operations, expect_close, expect_equal, expect_raises, expect_that
from grader.checks.devices import count_traffic

CALL = "clip_by_global_norm(params, max_norm)"
SHAPES = [(3, 4), (), (5,), (2, 0), (1, 1, 3)]
VIEWS = {
    *("view", "unsafe_view", "reshape", "detach", "alias", "t", "transpose", "permute", "unsqueeze"),
    *("squeeze", "as_strided", "slice", "select", "narrow", "split", "split_with_sizes", "expand"),
    "unflatten",
}


def parameters(gen, shapes=SHAPES, dtype=torch.float64, size=1.0):
    """Leaves with gradients of about the given size."""
    params = []
    for shape in shapes:
        p = nn.Parameter(torch.randn(shape, generator=gen, dtype=torch.float64).to(dtype))
        p.grad = (size * torch.randn(shape, generator=gen, dtype=torch.float64)).to(dtype)
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


def expect_clipped(answer, params, max_norm, where=""):
    wanted, norm = clipped(params, max_norm), norm_of(params)
    held = [p.grad for p in params]
    call = f"clip_by_global_norm(params, {max_norm:.4g}){where}"
    yours = answer.clip_by_global_norm(params, max_norm)
    expect_close(yours, norm.to(yours.dtype if torch.is_tensor(yours) else norm.dtype), call)
    for p, right, was in zip(params, wanted, held, strict=True):
        of = f"the gradient of shape {tuple(p.shape)} after {call}"
        expect_that(p.grad is was, f"{of} is another object: it must change in place")
        if right is not None:
            expect_close(p.grad, right, of)
    return yours


def test_around_the_bound(answer, gen):
    """All gradients shrink by max_norm / (norm + 1e-6), and by no other factor."""
    for size in (1.0, 1e-6, 1e6, 1e60):
        for share in (0.01, 0.5, 0.999, 1.0, 1.001, 3.0):
            params = parameters(gen, size=size)
            expect_clipped(answer, params, share * float(norm_of(params)))
    params = parameters(gen)
    expect_clipped(answer, params, 2)  # an int


def test_extreme_bounds(answer, gen):
    """With max_norm=0 all become 0; with inf none changes; gradients of 0 stay 0."""
    params = parameters(gen)
    before = [p.grad.clone() for p in params]
    answer.clip_by_global_norm(params, math.inf)
    for p, was in zip(params, before, strict=True):
        expect_equal(p.grad, was, "a gradient after clip_by_global_norm(params, inf)")
    answer.clip_by_global_norm(params, 0.0)
    for p in params:
        expect_equal(p.grad.abs(), torch.zeros_like(p), "a gradient after clip_by_global_norm(params, 0.0)")
    for bound in (0.0, 1.0, math.inf):
        call = f"clip_by_global_norm(params, {bound}), where all gradients are 0,"
        norm = answer.clip_by_global_norm(params, bound)
        expect_equal(norm, torch.zeros((), dtype=torch.float64), call)
        for p in params:
            expect_equal(p.grad.abs(), torch.zeros_like(p), f"a gradient of 0 after {call}")


def test_steps_beside_pytorch(answer, gen):
    """Step by step, with several groups and missing gradients, the weights are those of PyTorch's."""
    model = nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(3, 2)]).double()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    twin = copy.deepcopy(model)
    sides = []
    for net in (model, twin):
        groups = [{"params": net[0].parameters(), "lr": 0.5}, {"params": [*net[1:].parameters()]}]
        sides.append((net, torch.optim.SGD(groups, lr=0.1, momentum=0.9, weight_decay=0.1)))
    for step in range(4):
        x = torch.randn(5, 3, generator=gen).double() * 10.0 ** (step - 2)
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
        expect_close(norms[0], norms[1], f"the norm in step {step}")
        for (name, p), right in zip(model.named_parameters(), twin.parameters(), strict=True):
            expect_close(p.detach(), right.detach(), f"{name} after step {step}", scale=10.0)


def test_missing_gradients(answer, gen):
    """Where `.grad` is None it stays None; where all are, or there is no parameter, the norm is 0."""
    params = parameters(gen)
    params[0].grad = params[2].grad = None
    params[4].requires_grad_(False)  # frozen since, with a gradient still
    expect_clipped(answer, params, 0.1, " with missing gradients and a frozen parameter")
    idle = [nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(()))]
    for nobody in ([], idle, [nn.Parameter(p.detach().double()) for p in idle]):
        yours, about = answer.clip_by_global_norm(nobody, 1.0), f"{len(nobody)} parameters without gradients"
        about += f", in {nobody[0].dtype}" if nobody else ""
        expect_equal(yours, torch.tensor(0.0), f"{CALL} of {about}")
        expect_that(all(p.grad is None for p in nobody), f"{CALL} makes gradients where there are none")
    empty = parameters(gen, [(0,), (3, 0)], torch.float32)
    expect_equal(answer.clip_by_global_norm(empty, 1.0), torch.tensor(0.0), f"{CALL} with empty gradients")
    (empty,) = parameters(gen, [(0,)])
    zero = torch.zeros((), dtype=torch.float64)
    expect_equal(answer.clip_by_global_norm([empty], 1.0), zero, f"{CALL} with an empty float64 gradient")
    single = parameters(gen, [(3,)], torch.float32)
    norm = answer.clip_by_global_norm([*single, nn.Parameter(torch.ones(2).double())], 1.0)
    what = "the dtype of the norm of a float32 gradient, where a float64 parameter has none"
    expect_equal(str(norm.dtype), "torch.float32", what)


def test_generator(answer, gen):
    """A generator of parameters is read once, and everything in it is clipped."""
    params = parameters(gen)
    wanted = clipped(params, 0.5)
    answer.clip_by_global_norm((p for p in params), 0.5)
    for p, right in zip(params, wanted, strict=True):
        expect_close(p.grad, right, "a gradient after clip_by_global_norm(model.parameters(), 0.5)")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_dtypes(answer, gen, dtype):
    """The norm is float32, or float64 with a float64 gradient; half-precision squares do not overflow."""
    # for halves: 300² is above the largest float16, and 1e-4² below the smallest
    for size in (300.0, 1.0, 1e-4):
        params = parameters(gen, dtype=dtype, size=size)
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        norm = expect_clipped(answer, params, 0.3 * size, f" with {dtype}")
        expect_equal(str(norm.dtype), str(wide), f"the dtype of the norm of {dtype} gradients")
        expect_equal({str(p.grad.dtype) for p in params}, {str(dtype)}, "the gradients' dtypes afterwards")
    # a factor that half precision would round to 0, for gradients that it holds
    expect_clipped(answer, parameters(gen, dtype=dtype, size=8e3), 1e-4, f" with large gradients in {dtype}")


def test_mixed_dtypes(answer, gen):
    """Gradients of several dtypes have one norm and one factor, and keep their dtypes."""
    half, single, double = (
        parameters(gen, [(4,), ()], dtype) for dtype in (torch.bfloat16, torch.float32, torch.float64)
    )
    for params, wide in (([*half, *single], torch.float32), ([*single, *double, *half], torch.float64)):
        norm = expect_clipped(answer, params, 1.5, " with mixed dtypes")
        expect_equal(str(norm.dtype), str(wide), "the dtype of the norm of mixed gradients")
    large = parameters(gen, [(3,)], torch.bfloat16, 1000.0)
    norm = expect_clipped(answer, [*large, *parameters(gen, [(3,)], torch.float64)], 1.0)


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
    norm = answer.clip_by_global_norm([w, b, s], 0.5)
    expect_close(buffer, wanted, f"the buffer that holds the gradients, after {CALL}")
    for p, was in zip((w, b, s), values, strict=True):
        expect_equal(p.detach(), was, f"a parameter itself after {CALL}")
    kept = float(norm)
    buffer.zero_()
    expect_equal(float(norm), kept, "the norm when the gradients are cleared later")
    lone = nn.Parameter(torch.zeros(()))
    lone.grad = torch.tensor(-4.0)
    expect_close(answer.clip_by_global_norm([lone], 1.0), torch.tensor(4.0), f"{CALL} of a single number")


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_not_finite(answer, gen, bad):
    """A norm of inf or NaN comes back, and no gradient changes: none becomes 0 or NaN."""
    for dtype in (torch.float32, torch.float64, torch.float16):
        for bound in (1.0, 0.0, math.inf):
            params = parameters(gen, dtype=dtype)
            params[2].grad[1] = bad
            before = [p.grad.clone() for p in params]
            norm = answer.clip_by_global_norm(params, bound)
            wanted = torch.tensor(abs(bad), dtype=torch.float64 if dtype == torch.float64 else torch.float32)
            expect_equal(norm, wanted, f"clip_by_global_norm(params, {bound}) where a gradient holds {bad}")
            for p, was in zip(params, before, strict=True):
                expect_equal(
                    p.grad, was, f"a gradient, where one holds {bad} and none may change, after {CALL}"
                )


def test_bad_bounds(answer, gen):
    """A bound that is negative or NaN raises ValueError, with gradients or without, and changes nothing."""
    for bad in (-1.0, -1e-9, -math.inf, math.nan):
        params = parameters(gen)
        before = [p.grad.clone() for p in params]
        call = f"clip_by_global_norm(params, {bad})"
        expect_raises(ValueError, lambda p=params, bad=bad: answer.clip_by_global_norm(p, bad), call)
        for p, was in zip(params, before, strict=True):
            expect_equal(p.grad, was, f"a gradient after {call}")
        expect_raises(ValueError, lambda bad=bad: answer.clip_by_global_norm([], bad), call)


def test_no_graph(answer, gen):
    """Neither the norm nor a gradient carries a graph, even where a gradient had one."""
    p, q = parameters(gen, [(3,), (2, 2)])
    q.grad = torch.autograd.grad((q**3).sum(), [q], create_graph=True)[0]
    p.grad.requires_grad_(True)
    wanted = [g.detach() for g in clipped([p, q], 0.2)]
    norm = answer.clip_by_global_norm([p, q], 0.2)
    expect_equal(
        (norm.requires_grad, norm.grad_fn is None),
        (False, True),
        "(requires_grad, without a grad_fn) of the norm",
    )
    for each, right in zip((p, q), wanted, strict=True):
        expect_close(each.grad.detach(), right, f"a gradient with a graph after {CALL}")
    expect_that(
        p.grad.is_leaf,
        "the gradient carries a graph of the clipping",
        yours=f"p.grad.grad_fn is {type(p.grad.grad_fn).__name__}",
        wanted="p.grad.grad_fn is None",
        likely="the clipping is recorded by autograd: do it in `with torch.no_grad():`",
    )
    expect_equal(torch.is_grad_enabled(), True, "torch.is_grad_enabled() afterwards")


def test_cost(answer, gen):
    """The number of operations is the same for few parameters and many, clipped or not."""
    half, both = [torch.bfloat16], [torch.float32, torch.bfloat16]
    for bound, dtypes in ((0.1, [torch.float32]), (1e9, [torch.float32]), (0.1, half), (0.1, both)):
        counts = []
        for number in (4, 32):
            params = [p for dtype in dtypes for p in parameters(gen, [(2, 3)] * number, dtype)]
            count = count_operations(lambda p=params, b=bound: answer.clip_by_global_norm(p, b))
            counts.append(sum(times for name, times in count.items() if name not in VIEWS))
        expect_that(
            counts[1] - counts[0] < 14,
            f"the cost of {CALL} grows with the number of parameters, in {' and '.join(map(str, dtypes))}",
            yours=f"{counts[0]} operations for 4 parameters of a dtype, {counts[1]} for 32",
            likely="a loop over parameters: torch._foreach_norm and torch._foreach_mul_ take all at once",
        )


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
    results = []
    for size in (1e-3, 1.0, 1e3):
        for bound in (0.0, 0.5, 20.0):
            params = parameters(gen, size=size)
            results.append(answer.clip_by_global_norm(params, bound))
            results += [p.grad.clone() for p in params]
    return results
