"""What grades sgd_step: values, the same object and memory, leaves, counted writes, `.grad` left alone."""

import contextlib

import pytest
import torch
from torch import nn

from grader.checks import CheckFailure, expect_close, expect_equal, expect_that, modes_kept

CALL = "sgd_step(params, lr, weight_decay)"


def parameter(gen, *shape, dtype=torch.float64):
    """A leaf with a gradient."""
    p = torch.randn(shape, generator=gen, dtype=torch.float64).to(dtype).requires_grad_()
    p.grad = torch.randn(shape, generator=gen, dtype=torch.float64).to(dtype)
    return p


def moved(p, lr, weight_decay=0.0):
    """Where p should be after a step: computed in float64, in the dtype of p."""
    values, gradient = p.detach().double(), p.grad.detach().double()
    return (values - lr * (gradient + weight_decay * values)).to(p.dtype)


def mistakes(p, lr, decay):
    """What people get wrong, and what it gives."""
    p, g = p.detach().double().clone(), p.grad.detach().double().clone()  # a step writes to p
    return {
        "p moves along the gradient, uphill": lambda: p + lr * (g + decay * p),
        "weight_decay has no effect": lambda: p - lr * g,
        "weight_decay is not multiplied by lr": lambda: p - lr * g - decay * p,
        "weight_decay moves p away from 0": lambda: p - lr * (g - decay * p),
        "weight_decay comes after the step: here it is of p before": lambda: (p - lr * g) * (1 - lr * decay),
    }


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_values(answer, gen, dtype):
    """Parameters of any shape and dtype move by -lr · (gradient + weight_decay · p)."""
    for lr, decay in [(0.1, 0.0), (0.5, 0.2), (0.03, 1.5), (0.2, 1.0), (0.0, 0.3), (1.5, 0.0)]:
        params = [parameter(gen, *shape, dtype=dtype) for shape in [(3, 2), (), (5,), (0, 2)]]
        wanted = [moved(p, lr, decay) for p in params]
        suspects = [mistakes(p, lr, decay) for p in params]
        answer.sgd_step(params, lr, decay)
        for p, right, wrong in zip(params, wanted, suspects, strict=True):
            call = f"a parameter of shape {tuple(p.shape)} after sgd_step(params, {lr}, {decay})"
            expect_close(p.detach(), right, call, scale=8.0, suspects=wrong)


def test_default_weight_decay(answer, gen):
    """Without weight_decay there is none. One step moves parameters of several dtypes and devices."""
    params = [parameter(gen, 4), parameter(gen, 2, 3, dtype=torch.bfloat16)]
    wanted = [moved(p, 0.25) for p in params]
    elsewhere = torch.empty(3, device="meta", requires_grad=True)  # has no numbers, and mixes with no others
    elsewhere.grad = torch.empty(3, device="meta")
    answer.sgd_step([*params, elsewhere], lr=0.25)
    for p, right in zip(params, wanted, strict=True):
        expect_close(
            p.detach(), right, f"a parameter in {p.dtype} after sgd_step(params, lr=0.25)", scale=4.0
        )


def test_gradient_of_zero(answer, gen):
    """A gradient of zero is a gradient: the parameter decays, and counts. So are huge ones, NaN and inf."""
    p = parameter(gen, 4)
    p.grad.zero_()
    wanted = moved(p, 0.2, 0.5)
    expect_equal(answer.sgd_step([p], 0.2, 0.5), 1, "sgd_step([p], 0.2, 0.5), where p.grad is 0,")
    expect_close(p.detach(), wanted, "p, whose gradient is 0, after sgd_step([p], 0.2, 0.5)")
    for numbers in ([3.0, 1e9, -1e7, 2.0], [float("nan"), 1e9, float("-inf"), 2.0]):
        p.grad[:] = torch.tensor(numbers)
        wanted, call = moved(p, 0.2, 0.5), f"sgd_step([p], 0.2, 0.5), where p.grad is {numbers}"
        expect_equal(answer.sgd_step([p], 0.2, 0.5), 1, call)
        expect_equal(p.isnan().tolist(), wanted.isnan().tolist(), f"where p is NaN after {call}")
        expect_close(p.detach()[1:], wanted[1:], f"p[1:] after {call}")


def test_several_steps_with_backward(answer, gen):
    """A model that is trained step by step goes where a loop that is written out goes."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    x, y = torch.randn(6, 3, generator=gen).double(), torch.randn(6, 1, generator=gen).double()
    twin = {name: p.detach().clone() for name, p in model.named_parameters()}
    for _ in range(3):
        leaves = {name: p.requires_grad_() for name, p in twin.items()}
        loss = (torch.func.functional_call(model, leaves, (x,)) - y).square().mean()
        gradients = torch.autograd.grad(loss, leaves.values())
        pairs = zip(leaves.items(), gradients, strict=True)
        twin = {name: (p - 0.2 * (g + 0.1 * p)).detach() for (name, p), g in pairs}
    for _ in range(3):
        for p in model.parameters():
            p.grad = None
        (model(x) - y).square().mean().backward()
        answer.sgd_step(model.parameters(), lr=0.2, weight_decay=0.1)
    for name, p in model.named_parameters():
        expect_close(p.detach(), twin[name], f"{name} after three steps", scale=4.0)


def test_same_memory(answer, gen):
    """A step writes to the parameter's own memory: part of a buffer, or transposed, it moves there."""
    flat = torch.randn(5500, generator=gen, dtype=torch.float64)
    before = flat.clone()
    w, bias = flat[:5400].view(90, 60).t(), flat[5402:]
    for p in (w, bias):
        p.requires_grad_()
        p.grad = torch.randn(p.shape, generator=gen, dtype=torch.float64)
    wanted = before.clone()
    wanted[:5400] = moved(w, 0.1, 0.5).t().reshape(-1)
    wanted[5402:] = moved(bias, 0.1, 0.5)
    address = [p.data_ptr() for p in (w, bias)]
    answer.sgd_step([w, bias], lr=0.1, weight_decay=0.5)
    expect_close(
        w.detach(), wanted[:5400].view(90, 60).t(), f"a transposed parameter after {CALL}", scale=4.0
    )
    expect_close(flat, wanted, f"the buffer that holds the parameters, after {CALL}", scale=4.0)
    expect_equal(flat[5400:5402], before[5400:5402], "what lies between the parameters")
    expect_that([p.data_ptr() for p in (w, bias)] == address, "a parameter lies in other memory after a step")


def test_list_holds_the_same_objects(answer, gen):
    """Nothing is put in the place of a parameter: not in the list, not in the model."""
    params = [parameter(gen, 2), parameter(gen, 3)]
    held = list(params)
    answer.sgd_step(params, lr=0.1)
    expect_that(
        len(params) == 2 and all(p is was for p, was in zip(params, held, strict=True)),
        "the list that was passed as params holds other tensors afterwards",
    )
    model = nn.Linear(2, 1)
    held = dict(model.named_parameters())
    for p in held.values():
        p.grad = torch.ones_like(p)
    answer.sgd_step(model.parameters(), lr=0.1)
    for name, p in model.named_parameters():
        expect_that(p is held[name], f"the model's {name} is another tensor after a step")


def test_still_a_leaf(answer, gen):
    """A parameter stays a leaf without a graph, and requires gradients or not as before; frozen ones move."""
    plain, curved, frozen, late = (parameter(gen, 3) for _ in range(4))
    late.requires_grad_(False)
    curved.grad = None
    (gradient,) = torch.autograd.grad((curved**3).sum(), [curved], create_graph=True)
    curved.grad = gradient  # carries a graph of its own
    frozen.grad = None
    frozen.requires_grad_(False)
    before = frozen.clone()
    wanted, wanted_late = moved(curved, 0.1, 0.4), moved(late, 0.1, 0.4)
    count = answer.sgd_step([plain, curved, frozen, late], lr=0.1, weight_decay=0.4)
    expect_equal(count, 3, "sgd_step(params, 0.1, 0.4), one of three with a gradient frozen since,")
    expect_that(curved.grad.requires_grad, "a step cuts the graph that a `.grad` carries")
    for name, p in {"p": plain, "p, whose gradient carries a graph,": curved}.items():
        facts = (p.is_leaf, p.requires_grad, p.grad_fn is None)
        expect_equal(
            facts, (True, True, True), f"(is_leaf, requires_grad, no grad_fn) of {name} after a step"
        )
    flags = frozen.requires_grad, late.requires_grad
    expect_equal(flags, (False, False), "requires_grad of two frozen parameters after a step")
    expect_close(
        late, wanted_late, "a parameter that has been frozen since backward, after a step", scale=4.0
    )
    expect_equal(frozen, before, "a frozen parameter after a step")
    expect_close(curved.detach(), wanted, "p, whose gradient carries a graph, after a step", scale=4.0)


def test_next_backward_ends_here(answer, gen):
    """The next backward sees the parameter as it is now, and nothing of the step."""
    p = parameter(gen, 4)
    answer.sgd_step([p], lr=0.3, weight_decay=0.1)
    now = p.detach().clone()
    p.grad = None
    (p**3).sum().backward()
    expect_that(p.grad is not None, "p gets no gradient in the backward after a step")
    expect_close(p.grad, 3 * now**2, "p.grad in the backward after a step")


def test_writes_are_counted(answer, gen):
    """The backward of a graph that was recorded before the step, and needs the old values, raises."""
    for where, lr in (("outside", 0.1), ("inside", 0.1), ("outside", 0.0)):
        p, frozen, x = (parameter(gen, 3) for _ in range(3))
        frozen.requires_grad_(False)
        old_losses = {"a parameter": (p * p).sum(), "a parameter that was frozen": (frozen * x).sum()}
        with torch.set_grad_enabled(where == "outside"):
            answer.sgd_step([p, frozen], lr=lr)
        for what, loss in old_losses.items():
            try:
                loss.backward()
            except RuntimeError:
                continue
            raise CheckFailure(
                f"after sgd_step with lr={lr} {where} of no_grad, a graph that has saved {what} gives wrong "
                "gradients\n"
                "  yours   its backward raises no error\n"
                "  wanted  RuntimeError: … has been modified by an inplace operation\n"
                "  likely  the write is hidden from autograd (`.data`?), or goes to other memory"
            )


def test_gradients_are_left_alone(answer, gen):
    """Every `.grad` is the same afterwards: not cleared, not written to, and None is still None."""
    params = [parameter(gen, 3), parameter(gen, 2, 2), parameter(gen, 4)]
    params[2].grad = None
    kept = [p.grad for p in params]
    values = [None if g is None else g.clone() for g in kept]
    before = params[2].detach().clone()
    old_loss = (params[2] * params[2]).sum()
    answer.sgd_step(params, lr=0.1, weight_decay=0.5)
    for p, gradient, value in zip(params, kept, values, strict=True):
        if value is None:
            expect_that(p.grad is None, "a parameter that had no gradient has one after a step", yours=p.grad)
            continue
        expect_that(p.grad is not None, "a `.grad` is gone after a step")
        expect_equal(p.grad, value, f"a `.grad` after {CALL}")
        expect_equal(gradient, value, f"the tensor that was a parameter's `.grad`, after {CALL}")
    expect_equal(params[2].detach(), before, "a parameter without a gradient, after a step with weight decay")
    try:
        old_loss.backward()
    except RuntimeError as error:
        raise CheckFailure(
            f"a step writes to a parameter without a gradient: a graph from before is lost\n  yours   {error}"
        ) from None


def test_grad_mode(answer, gen):
    """It works inside no_grad too, and recording is on or off afterwards as it was before."""
    for enabled in (False, True):
        p = parameter(gen, 3)
        wanted = moved(p, 0.1)
        with torch.set_grad_enabled(enabled), modes_kept("a step"):
            answer.sgd_step([p], lr=0.1)
        expect_close(
            p.detach(), wanted, f"p after a step with gradients {'on' if enabled else 'off'}", scale=4.0
        )

        def failing(p=p):
            yield p
            raise ArithmeticError("no more parameters")

        with (
            torch.set_grad_enabled(enabled),
            modes_kept("an error that params raises"),
            contextlib.suppress(ArithmeticError),
        ):
            answer.sgd_step(failing(), lr=0.1)


def test_any_iterable(answer, gen):
    """params may be a generator, a tuple or the values of a dict, and may be empty."""
    for make in (iter, tuple, lambda ps: dict(enumerate(ps)).values(), lambda ps: (p for p in ps)):
        params = [parameter(gen, n % 4) for n in range(20)]
        wanted = [moved(p, 0.1) for p in params]
        expect_equal(answer.sgd_step(make(params), lr=0.1), 20, "sgd_step(params, lr=0.1) on 20 parameters")
        for p, right in zip(params, wanted, strict=True):
            expect_close(p.detach(), right, "a parameter after a step on a generator or tuple", scale=4.0)


def test_count(answer, gen):
    """The result is the number of parameters that had a gradient."""
    params = [parameter(gen, 3), parameter(gen, 0, 2), parameter(gen, 4)]
    expect_equal(answer.sgd_step(params, 0.1), 3, "sgd_step(params, 0.1)")
    expect_equal(answer.sgd_step(params, 0.0), 3, "sgd_step(params, 0.0)")
    params[1].grad = None
    expect_equal(answer.sgd_step(params, 0.1, 0.2), 2, "sgd_step(params, 0.1, 0.2), one without a gradient,")
    params[0].grad = None
    expect_equal(answer.sgd_step(params, 0.1), 1, "sgd_step(params, 0.1), only the last one with a gradient,")
    params[2].grad = None
    expect_equal(answer.sgd_step(iter(params), 0.1), 0, "sgd_step(params, 0.1) without gradients")
    expect_equal(answer.sgd_step([], lr=0.1), 0, "sgd_step([], lr=0.1)")


def oracle(answer, gen):
    flat = torch.randn(8, generator=gen, dtype=torch.float64)
    w, idle = flat[1:7].view(2, 3).requires_grad_(), parameter(gen, 2)
    idle.grad = None
    values = []
    for decay in (0.0, 0.1):
        w.grad = None
        w.square().sum().mul(w[0, 0]).backward()
        result = answer.sgd_step((p for p in (w, idle)), 0.05, decay)
        values += [result, w.detach().clone(), w.grad.clone(), w.is_leaf]
    return [*values, flat.detach(), idle.detach(), idle.grad is None]
