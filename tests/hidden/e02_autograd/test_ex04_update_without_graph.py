"""What grades sgd_step: values, the same tensors, leaves; counted writes, memory, `.grad` left alone."""

import pytest
import torch
from torch import nn

from grader.checks import CheckFailure, expect_close, expect_equal, expect_that, modes_kept

CALL = "sgd_step(params, lr, weight_decay)"


def parameter(gen, *shape, dtype=torch.float32):
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


def test_values(answer, gen):
    """Parameters of any shape move by -lr · (gradient + weight_decay · p)."""
    for lr, decay in [(0.1, 0.0), (0.5, 0.2), (0.03, 1.5)]:
        params = [parameter(gen, *shape) for shape in [(3, 2), (), (5,)]]
        wanted = [moved(p, lr, decay) for p in params]
        suspects = [mistakes(p, lr, decay) for p in params]
        expect_equal(
            answer.sgd_step(params, lr, decay), 3, f"sgd_step(params, {lr}, {decay}), of 3 parameters,"
        )
        for p, right, wrong in zip(params, wanted, suspects, strict=True):
            call = f"a parameter of shape {tuple(p.shape)} after sgd_step(params, {lr}, {decay})"
            expect_close(p.detach(), right, call, scale=8.0, suspects=wrong)


def test_without_gradient(answer, gen):
    """A parameter without a gradient stays, weight decay or not, and does not count."""
    params = [parameter(gen, 3), parameter(gen, 4)]
    params[1].grad, before = None, params[1].detach().clone()
    expect_equal(
        answer.sgd_step(iter(params), 0.1, 0.2),
        1,
        "sgd_step(params, 0.1, 0.2), one of two without a gradient,",
    )
    expect_equal(params[1].detach(), before, "a parameter without a gradient, after a step with weight decay")
    expect_that(params[1].grad is None, "a parameter that had no gradient has one after a step")


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


def test_next_backward_ends_here(answer, gen):
    """The next backward sees the parameter as it is now, and nothing of the step."""
    p = parameter(gen, 4)
    answer.sgd_step([p], lr=0.3, weight_decay=0.1)
    now = p.detach().clone()
    p.grad = None
    (p**3).sum().backward()
    expect_that(p.grad is not None, "p gets no gradient in the backward after a step")
    expect_close(p.grad, 3 * now**2, "p.grad in the backward after a step")


@pytest.mark.fine
def test_writes_are_counted(answer, gen):
    """The backward of a graph that was recorded before the step, and needs the old values, raises."""
    for where, lr in (("outside", 0.1), ("inside", 0.1)):
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


@pytest.mark.fine
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


@pytest.mark.fine
def test_gradients_are_left_alone(answer, gen):
    """Every `.grad` is the same afterwards: not cleared, not written to."""
    params = [parameter(gen, 3), parameter(gen, 2, 2)]
    kept = [p.grad for p in params]
    values = [g.clone() for g in kept]
    answer.sgd_step(params, lr=0.1, weight_decay=0.5)
    for p, gradient, value in zip(params, kept, values, strict=True):
        expect_that(p.grad is not None, "a `.grad` is gone after a step")
        expect_equal(p.grad, value, f"a `.grad` after {CALL}")
        expect_equal(gradient, value, f"the tensor that was a parameter's `.grad`, after {CALL}")


@pytest.mark.fine
def test_frozen_and_zero(answer, gen):
    """A parameter that was frozen since moves and stays frozen; one with a gradient of zeros decays."""
    frozen, still = parameter(gen, 3), parameter(gen, 3)
    frozen.requires_grad_(False)
    still.grad.zero_()
    wanted = [moved(p, 0.1, 0.4) for p in (frozen, still)]
    expect_equal(answer.sgd_step([frozen, still], 0.1, 0.4), 2, "sgd_step(params, 0.1, 0.4)")
    expect_close(
        frozen, wanted[0], "a parameter that has been frozen since backward, after a step", scale=4.0
    )
    expect_equal(frozen.requires_grad, False, "requires_grad of a frozen parameter after a step")
    expect_close(
        still.detach(), wanted[1], "p, whose gradient is 0, after a step with weight decay", scale=4.0
    )


@pytest.mark.fine
def test_grad_mode(answer, gen):
    """It works inside no_grad too, and recording is on or off afterwards as it was before."""
    for enabled in (False, True):
        p = parameter(gen, 3)
        wanted = moved(p, 0.1)
        with torch.set_grad_enabled(enabled), modes_kept("a step"):
            answer.sgd_step([p], lr=0.1)
        call = f"p after a step with gradients {'on' if enabled else 'off'}"
        expect_close(p.detach(), wanted, call, scale=4.0)


@pytest.mark.fine
def test_dtypes(answer, gen):
    """One step moves parameters of several dtypes, each in its own."""
    params = [parameter(gen, 4, dtype=torch.float64), parameter(gen, 2, 3, dtype=torch.bfloat16)]
    wanted = [moved(p, 0.25) for p in params]
    answer.sgd_step(params, lr=0.25)
    for p, right in zip(params, wanted, strict=True):
        expect_close(
            p.detach(), right, f"a parameter in {p.dtype} after sgd_step(params, lr=0.25)", scale=4.0
        )


def oracle(answer, gen):
    def trained(decay, idle=False):
        w, b = parameter(gen, 2, 3), parameter(gen, 2)
        w.grad = b.grad = None
        ((w.square().sum() * w[0, 0]) + (0 if idle else b.exp().sum())).backward()
        count = answer.sgd_step([w, b], 0.05, decay)
        return [count, w.detach(), b.detach()]

    return {
        "two parameters": trained(0.0),
        "two parameters with weight decay": trained(0.3),
        "one of two has no gradient": trained(0.3, idle=True),
    }
