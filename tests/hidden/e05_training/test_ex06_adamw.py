"""What grades AdamW: steps against PyTorch's, groups, missing gradients, state dicts, memory, closures."""

import functools
import io
import sys
from contextlib import contextmanager

import pytest
import torch
from torch import nn

from grader.checks import (
    CheckFailure,
    expect_close,
    expect_equal,
    expect_raises,
    expect_that,
    forbid,
    modes_kept,
    shares_storage,
)
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated, on_host

SHAPES = [(3, 2), (), (5,), (0, 2)]


def numbers(gen, shape, dtype=torch.float64):
    return torch.randn(shape, generator=gen, dtype=torch.float64).to(dtype)


def parameters(gen, *shapes, dtype=torch.float64):
    return [nn.Parameter(numbers(gen, shape, dtype)) for shape in shapes]


def twins_of(params):
    return [nn.Parameter(p.detach().double().clone()) for p in params]


def give(gen, params, twins, skip=()):
    """The same new gradients for both; None for the indices in `skip`."""
    for index, (p, twin) in enumerate(zip(params, twins, strict=True)):
        gradient = numbers(gen, p.shape, p.dtype)
        p.grad = None if index in skip else gradient
        twin.grad = None if index in skip else gradient.double().clone()


def real(groups, **options):
    return torch.optim.AdamW(groups, foreach=False, **options)


def written_out(
    p, gradients, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, divided=(1, 1), coupled=0, last=0
):
    """Where the gradients lead; `divided` by 1 - βᵗ, or not; the decay in the gradient, or after the step."""
    m = v = torch.zeros_like(p)
    for t, g in enumerate(gradients, start=1):
        p = p if coupled or last else p * (1 - lr * weight_decay)
        g = g + coupled * weight_decay * p
        m, v = torch.lerp(g, m, betas[0]), torch.lerp(g * g, v, betas[1])
        first, second = (x / (1 - b**t) if d else x for x, b, d in zip((m, v), betas, divided, strict=True))
        p = p - lr * first / (second.sqrt() + eps)
        p = p * (1 - lr * weight_decay) if last else p
    return p


def mistakes(p, gradients, options):
    """What people get wrong, and what it gives."""
    betas = options.get("betas", (0.9, 0.999))
    changes = {
        "there is no bias correction: divide m by 1 - β₁ᵗ and v by 1 - β₂ᵗ, t from 1 on": {"divided": (0, 0)},
        "m is not divided by 1 - β₁ᵗ": {"divided": (0, 1)},
        "v is not divided by 1 - β₂ᵗ": {"divided": (1, 0)},
        "the decay goes through the moments, as in Adam: here it is apart from them": {"coupled": 1},
        "the decay comes after the step: here it comes before": {"last": 1},
        "the betas are swapped": {"betas": betas[::-1]},
    }
    return {
        told: functools.partial(written_out, p, gradients, **{**options, **change})
        for told, change in changes.items()
    }


def expect_same(params, twins, when, ulps=None, suspects=lambda index: {}):
    for index, (p, twin) in enumerate(zip(params, twins, strict=True)):
        right, what = twin.detach().to(p.dtype), f"parameter {index} after {when}"
        expect_close(p.detach(), right, what, ulps=ulps, scale=4.0, suspects=suspects(index))


OPTIONS = {
    "defaults": {},
    "large steps": {"lr": 0.1},
    "betas": {"lr": 0.1, "betas": (0.5, 0.7)},
    "no memory": {"lr": 0.1, "betas": (0.0, 0.0)},
    "large eps": {"lr": 0.1, "eps": 0.3},
    "decay": {"lr": 0.1, "weight_decay": 0.8},
    "no decay": {"lr": 0.1, "weight_decay": 0.0},
    "decay alone": {"lr": 0.0, "weight_decay": 0.5},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_step_by_step(answer, gen, name):
    """Each of several steps leads where PyTorch's AdamW leads, with every option."""
    params = parameters(gen, *SHAPES)
    twins = twins_of(params)
    yours, wanted = answer.AdamW(params, **OPTIONS[name]), real(twins, **OPTIONS[name])
    starts, given = [p.detach().clone() for p in twins], [[] for _ in twins]

    def suspects(index):
        return mistakes(starts[index], given[index], OPTIONS[name])

    for number in range(1, 5):
        give(gen, params, twins)
        for gradients, twin in zip(given, twins, strict=True):
            gradients.append(twin.grad.clone())
        yours.step()
        wanted.step()
        expect_same(params, twins, f"step {number} of AdamW(params, {OPTIONS[name]})", suspects=suspects)


def test_groups(answer, gen):
    """Each group has its own options, read at every step, and the arguments fill in what it leaves out."""
    params = parameters(gen, (3,), (2, 2), (4,))
    twins = twins_of(params)

    def groups(ps):
        return [
            {"params": [ps[0]], "lr": 0.3, "weight_decay": 0.0},
            {"params": [ps[1]], "betas": (0.5, 0.6), "eps": 0.1},
            {"params": iter([ps[2]])},
        ]

    options = {"lr": 0.05, "weight_decay": 0.4, "eps": 1e-3}
    yours, wanted = answer.AdamW(groups(params), **options), real(groups(twins), **options)
    for number in range(1, 6):
        give(gen, params, twins)
        yours.step()
        wanted.step()
        expect_same(params, twins, f"step {number} with three groups")
        for optimizer in (yours, wanted):
            optimizer.param_groups[2].update(lr=0.02 * number, weight_decay=0.1 * number, eps=0.1)
            optimizer.param_groups[0]["betas"] = (0.3, 0.8)


def test_scheduler(answer, gen):
    """A scheduler of torch.optim drives the learning rate."""
    params = parameters(gen, (3,))
    twins = twins_of(params)
    options = {"lr": 0.5, "betas": (0.75, 0.875), "eps": 0.25, "weight_decay": 0.125}
    yours, wanted = answer.AdamW(params, *options.values()), real(twins, **options)
    rates = (1.0, 0.0, 0.5, 0.25)  # at a rate of 0 the moments go on
    schedules = [
        torch.optim.lr_scheduler.LambdaLR(optimizer, rates.__getitem__) for optimizer in (yours, wanted)
    ]
    for number in range(1, 4):
        give(gen, params, twins)
        yours.step()
        wanted.step()
        for schedule in schedules:
            schedule.step()
        expect_same(
            params, twins, f"step {number} of AdamW(params, 0.5, (0.75, 0.875), 0.25, 0.125) with a LambdaLR"
        )


def test_missing_gradients(answer, gen):
    """Without a gradient a parameter stays as it is, and its t does not count on."""
    params = parameters(gen, (3,), (2,), (4,))
    twins = twins_of(params)
    options = {"lr": 0.1, "weight_decay": 0.3}
    yours, wanted = answer.AdamW(params, **options), real(twins, **options)
    for number, skip in enumerate([(1,), (1, 2), (0, 1, 2), (0,), (), (2,)], start=1):
        give(gen, params, twins, skip)
        if number == 5:  # frozen since, with a gradient still: that is a gradient
            params[0].requires_grad_(False)
            twins[0].requires_grad_(False)
        before = [p.detach().clone() for p in params]
        yours.step()
        wanted.step()
        for index in skip:
            expect_equal(
                params[index].detach(), before[index], f"a parameter without a gradient at step {number}"
            )
        expect_same(params, twins, f"step {number}, where {skip} have no gradient")
        for index in skip:
            expect_that(params[index].grad is None, "a parameter that had no gradient has one after a step")
        if number == 3:
            expect_that(not yours.state.get(params[1]), "a parameter that never had a gradient has a state")


def test_gradient_of_zero(answer, gen):
    """A gradient of zero is a gradient: the parameter decays, and its moments carry it on."""
    params = parameters(gen, (3,), (2,))
    twins = twins_of(params)
    options = {"lr": 0.1, "weight_decay": 0.3}
    yours, wanted = answer.AdamW(params, **options), real(twins, **options)
    for number in range(1, 4):
        give(gen, params, twins)
        if number == 2:
            for p in [*params, *twins]:
                p.grad.zero_()
        params[1].grad.zero_()
        twins[1].grad.zero_()
        yours.step()
        wanted.step()
        expect_same(params, twins, f"step {number}, with gradients of zero")


def test_gradients_of_any_size(answer, gen):
    """Tiny and huge gradients are used as they are, and a NaN shows."""
    params = parameters(gen, (8,))
    twins = twins_of(params)
    yours, wanted = answer.AdamW(params, lr=0.1), real(twins, lr=0.1)
    sizes = torch.tensor([1e-60, 1e-20, 1e-12, 1e-8, 1.0, 1e5, 1e20, 1e60], dtype=torch.float64)
    for number in range(1, 5):
        give(gen, params, twins)
        for p in [*params, *twins]:
            p.grad.mul_(sizes if number < 3 else sizes.flip(0))
            if number == 4:
                p.grad[3] = float("nan")
        yours.step()
        wanted.step()
        expect_same(params, twins, f"step {number} with gradients from 1e-60 to 1e60")


def test_added_later(answer, gen):
    """A parameter that is added later begins at t = 1, and the others go on."""
    params = parameters(gen, (3,), (2,))
    twins = twins_of(params)
    yours, wanted = answer.AdamW(params[:1], lr=0.1), real(twins[:1], lr=0.1)
    for number in range(1, 6):
        if number == 3:
            yours.add_param_group({"params": params[1:], "weight_decay": 0.5})
            wanted.add_param_group({"params": twins[1:], "weight_decay": 0.5})
        give(gen, params, twins)
        yours.step()
        wanted.step()
        if number < 3:
            params[1].grad = twins[1].grad = None
        expect_same(params, twins, f"step {number}, where a parameter is added before step 3")


def saved(optimizer):
    """The state dict, after a trip through a file."""
    file = io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def test_resumed(answer, gen):
    """A run that goes on from a saved state dict goes on as if it had not stopped."""
    params = parameters(gen, (3,), (2, 2), (4,))
    twins = twins_of(params)
    groups = lambda ps: [{"params": ps[:2]}, {"params": ps[2:], "betas": (0.5, 0.6)}]  # noqa: E731
    yours, wanted = answer.AdamW(groups(params), lr=0.1), real(groups(twins), lr=0.1)
    for number in range(1, 7):
        if number in (3, 5):
            state = saved(yours)
            params = [nn.Parameter(p.detach().clone()) for p in params]
            yours = answer.AdamW(groups(params), lr=7.0, betas=(0.1, 0.1), weight_decay=3.0)
            yours.load_state_dict(state)
        give(gen, params, twins, skip=(1,) if number in (2, 3) else ())
        yours.step()
        wanted.step()
        expect_same(params, twins, f"step {number} of a run that was saved and loaded before steps 3 and 5")
    # t does not lose its digits on the way, whatever the dtype of p
    (p,) = parameters(gen, (3,), dtype=torch.bfloat16)
    p.grad = torch.ones_like(p)
    yours = answer.AdamW([p])
    yours.step()
    state = yours.state_dict()
    entry = state["state"][0]
    counts = {key: t for key, t in entry.items() if not getattr(t, "shape", ()) and t == 1 and t is not True}
    for key, t in counts.items():
        entry[key] = torch.full_like(t, 1001) if isinstance(t, torch.Tensor) else type(t)(1001)
    yours = answer.AdamW([p])
    yours.load_state_dict(state)
    yours.step()
    now = [float(yours.state[p][key]) for key in counts]
    what = "a bfloat16 parameter has another t after a step that goes on from t = 1001"
    expect_that(not now or 1002.0 in now, what, yours=str(now)[1:-1], wanted="1002.0")


def test_two_optimizers(answer, gen):
    """Two optimizers do not meddle with each other: each parameter has its own t."""
    params = parameters(gen, (3,), (3,))
    twins = twins_of(params)
    yours = [answer.AdamW([p], lr=0.1) for p in params]
    wanted = [real([p], lr=0.1) for p in twins]
    for number in range(1, 4):
        give(gen, params, twins)
        for optimizer in [*yours[: 1 + number % 2], *wanted[: 1 + number % 2]]:
            optimizer.step()
        expect_same(params, twins, f"step {number} of two optimizers")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_dtypes(answer, gen, dtype):
    """Parameters and moments keep their dtype, side by side with others."""
    params = [*parameters(gen, (3, 2), (), dtype=dtype), *parameters(gen, (4,))]
    twins = twins_of(params)
    yours, wanted = answer.AdamW(params, lr=0.1, weight_decay=0.1), real(twins, lr=0.1, weight_decay=0.1)
    for number in range(1, 4):
        give(gen, params, twins)
        yours.step()
        wanted.step()
        # the moments are rounded to the dtype of p, the twins' are not
        expect_same(
            params[:2], twins[:2], f"step {number} in {dtype}", ulps=64.0 if dtype != torch.bfloat16 else 8.0
        )
        expect_same(params[2:], twins[2:], f"step {number} in float64, next to {dtype}")
    for p in params:
        moments = [
            t
            for t in yours.state[p].values()
            if isinstance(t, torch.Tensor) and t.shape == p.shape and t.dim()
        ]
        for t in moments:
            expect_equal(t.dtype, p.dtype, f"the dtype of a moment of a parameter in {p.dtype}")


def test_memory(answer, gen):
    """A step writes into the parameter's own memory, also a transposed one or a part of a buffer."""
    flat = numbers(gen, (14,))
    before = flat.clone()
    params = [
        flat[1:7].view(3, 2).t().requires_grad_(),
        flat[9:12].requires_grad_(),
        numbers(gen, (4,)).requires_grad_(),
    ]
    twins = twins_of(params)
    betas = {"betas": (0.0, 0.9)}  # the first moment is the gradient
    groups = [[{"params": ps[:2]}, {"params": ps[2:], **betas}] for ps in (params, twins)]
    yours, wanted = answer.AdamW(groups[0], lr=0.1), real(groups[1], lr=0.1)
    ids = [(id(p), p.data_ptr()) for p in params]
    for number in range(1, 4):
        give(gen, params, twins)
        params[2].grad = params[2].grad.repeat_interleave(2)[::2]  # strided
        kept = [p.grad for p in params]
        values = [g.clone() for g in kept]
        yours.step()
        wanted.step()
        for p, g, value in zip(params, kept, values, strict=True):
            expect_that(p.grad is g, "a `.grad` is another tensor, or None, after a step")
            expect_equal(g, value, "a `.grad` after a step")
            g.zero_()  # the caller's to use: moments have memory of their own
        expect_same(params, twins, f"step {number}, of parameters that are views")
    now = [(id(p), p.data_ptr()) for group in yours.param_groups for p in group["params"]]
    expect_that(now == ids, "a step puts a parameter into other memory: it is to be written in place")
    for part in (slice(0, 1), slice(7, 9), slice(12, 14)):
        expect_equal(flat[part].detach(), before[part], "what lies next to the parameters in their buffer")
    for p in params:
        for t in yours.state[p].values():
            if isinstance(t, torch.Tensor):
                shared = shares_storage(t, p) or shares_storage(t, p.grad)
                expect_that(not shared, "a moment shares the memory of its parameter or gradient")


def test_no_graph(answer, gen):
    """Parameters remain leaves, and neither they nor the moments carry a graph, even if the gradients do."""
    (p,) = parameters(gen, (3,))
    optimizer = answer.AdamW([p], lr=0.1)
    for enabled in (True, False):
        with torch.enable_grad():
            loss = (p**3).sum()
            (p.grad,) = torch.autograd.grad(loss, [p], create_graph=True)
        with torch.set_grad_enabled(enabled), modes_kept("a step"):
            optimizer.step()
        expect_equal((p.is_leaf, p.requires_grad), (True, True), "(is_leaf, requires_grad) of p after a step")
        for t in optimizer.state[p].values():
            if isinstance(t, torch.Tensor):
                expect_that(not t.requires_grad, "a moment carries a graph")


def test_closure(answer, gen):
    """closure runs once, with gradients on, before the step, and its result is returned."""
    for enabled in (True, False):
        params = parameters(gen, (3,), (2,))  # in two groups, and the second has no gradient
        twins = twins_of(params)
        yours = answer.AdamW([{"params": [p]} for p in params], lr=0.1)
        wanted, calls, returned = real(twins, lr=0.1), [], []

        def closure(params=params, yours=yours, calls=calls, returned=returned):
            calls.append(torch.is_grad_enabled())
            yours.zero_grad()
            yours.param_groups[0]["lr"] = 0.1 * len(calls)
            loss = (params[0] ** 2).sum()
            loss.backward()
            returned.append(loss)
            return loss

        for number in range(1, 3):
            twins[0].grad = 2 * twins[0].detach()
            loss = (twins[0].detach() ** 2).sum()
            wanted.param_groups[0]["lr"] = 0.1 * number
            wanted.step()
            with torch.set_grad_enabled(enabled):
                result = yours.step(closure)
            expect_equal(calls, [True] * number, "whether gradients are on, at each call of closure")
            expect_that(
                isinstance(result, torch.Tensor), "step(closure) does not return its loss", yours=result
            )
            expect_close(result.detach(), loss, "step(closure)")
            expect_that(result is returned[-1], "step(closure) returns another tensor than closure")
            expect_same(params, twins, f"step {number} with a closure that sets lr to {0.1 * number}")
    params[0].grad = torch.ones(3).double()
    expect_equal(yours.step(), None, "step() without a closure")
    expect_equal(yours.step(closure=lambda: 0.0), 0.0, "step(closure=closure) where closure returns 0.0")
    late = parameters(gen, (2,))
    twins = twins_of(late)
    for p in (*late, *twins):
        p.grad = torch.tensor([1.0, -2.0], dtype=p.dtype)
    wanted = real(twins, lr=0.1)
    wanted.step()
    yours.step(lambda: yours.add_param_group({"params": late, "lr": 0.1}))
    expect_same(late, twins, "step(closure) where closure adds a group")


BAD = [
    {"lr": -1e-3},
    {"eps": -1e-8},
    {"weight_decay": -0.1},
    {"betas": (-0.1, 0.9)},
    {"betas": (1.0, 0.9)},
    {"betas": (0.9, -0.1)},
    {"betas": (0.9, 1.0)},
    {"betas": (0.9, 1.5)},
]


def test_errors(answer, gen):
    """Arguments out of their range raise ValueError; zeros do not."""
    params = parameters(gen, (2,))
    for options in BAD:
        expect_raises(ValueError, lambda o=options: answer.AdamW(params, **o), f"AdamW(params, **{options})")
    optimizer = answer.AdamW(params, lr=0.0, eps=0.0, weight_decay=0.0, betas=(0.0, 0.0))
    group = optimizer.param_groups[0]
    for name, value in {"lr": 0.0, "eps": 0.0, "weight_decay": 0.0}.items():
        expect_equal(group[name], value, f"{name} of the group")


_OWN = tuple(
    f"torch/optim/{name}.py" for name in ("adam", "adamw", "nadam", "radam", "adamax", "sparse_adam")
)


@contextmanager
def nothing_of_torchs_own():
    """Fail if the block runs code of torch's own Adam or AdamW."""
    ran = set()

    def look(frame, event, _):
        if event == "call" and frame.f_code.co_filename.endswith(_OWN):
            ran.add(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)
    if ran:
        raise CheckFailure(
            "AdamW uses torch's own\n  yours   runs torch.optim.Adam or AdamW\n  wanted  it written out"
        )


def test_written_out(answer, gen):
    """Nothing of torch's own Adam and AdamW runs."""
    params = parameters(gen, (3,), (2,))
    with nothing_of_torchs_own(), forbid("AdamW.step()", "fused_adam", "fused_adamw"):
        optimizer = answer.AdamW(params, lr=0.1)
        for _ in range(2):
            for p in params:
                p.grad = numbers(gen, p.shape)
            optimizer.step()
    expect_that(isinstance(optimizer, torch.optim.Optimizer), "AdamW is no torch.optim.Optimizer")


def test_on_a_device(answer, gen, device):
    """On another device everything stays there, and the host neither waits nor copies."""
    hosts = parameters(gen, (3, 2), (4,), ())
    twins = twins_of(hosts)
    params = [nn.Parameter(p.detach().to(device)) for p in hosts]
    yours, wanted = answer.AdamW(params, lr=0.1), real(twins, lr=0.1)
    for number in range(1, 4):
        give(gen, hosts, twins)
        for p, host in zip(params, hosts, strict=True):
            p.grad = host.grad.to(device)
        if number == 3:
            yours.load_state_dict(yours.state_dict())  # which moves to p's device what it takes for a moment
        with count_traffic() as traffic:
            yours.step()
        wanted.step()
        expect_same([on_host(p) for p in params], twins, f"step {number} on another device")
        expect_no_traffic(traffic, "a step", waits=True)
    for p in params:
        for t in yours.state[p].values():
            if isinstance(t, torch.Tensor) and t.dim() and t.shape == p.shape:
                expect_that(is_simulated(t), "a moment is on another device than its parameter")


def oracle(answer, gen):
    params = parameters(gen, *SHAPES)
    groups = [{"params": params[:1], "lr": 0.2}, {"params": params[1:3], "betas": (0.4, 0.8), "eps": 0.01}]
    optimizer = answer.AdamW(groups, lr=0.05, weight_decay=0.2)
    results = []
    for number in range(4):
        if number == 2:
            optimizer.add_param_group({"params": params[3:]})
            state = optimizer.state_dict()
            optimizer = answer.AdamW(
                [{"params": params[:1]}, {"params": params[1:3]}, {"params": params[3:]}]
            )
            optimizer.load_state_dict(state)
        for index, p in enumerate(params):
            p.grad = None if (index + number) % 3 == 0 else numbers(gen, p.shape)
        results.append([optimizer.step(), [p.detach().clone() for p in params]])
    return results
