"""What grades sgd_step: values, the same tensors, leaves; counted writes, memory, `.grad` left alone."""

from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import CheckFailure, expect_close, expect_equal, expect_that, modes_kept
from grader.checks.contract import Contract, given, values

CALL = "sgd_step(params, lr, weight_decay)"


def parameter(gen, *shape, dtype=torch.float32):
    """A leaf with a gradient."""
    p = nn.Parameter(torch.randn(shape, generator=gen, dtype=torch.float64).to(dtype))
    p.grad = torch.randn(shape, generator=gen, dtype=torch.float64).to(dtype)
    return p


def step(gen, *options, idle=()):
    """A step of three parameters or more, of which some have no gradient."""
    more = int(torch.randint(9, (), generator=gen))
    params = [parameter(gen, *shape) for shape in [(3, 2), (), (5,), *[(2,)] * more]]
    for number in idle:
        params[number].grad = None
    return given(params, *options)


def frozen(gen):
    """A step of a parameter that was frozen since the backward, and one with a gradient of zeros."""
    params = [parameter(gen, 3), parameter(gen, 3)]
    params[0].requires_grad_(False)
    params[1].grad.zero_()
    return given(params, 0.1, 0.4)


def moved(p, lr, weight_decay=0.0, to=lambda p, g, lr, decay: p - lr * (g + decay * p)):
    """Where p should be after a step: computed in float64, in the dtype of p."""
    return to(p.detach().double(), p.grad.detach().double(), lr, weight_decay).to(p.dtype)


def written_out(params, lr, weight_decay=0.0, tell=lambda moving, params: moving, **how):
    moving = [p for p in params if p.grad is not None]
    for p in moving:
        p.data = moved(p, lr, weight_decay, **how)
    return len(tell(moving, params))


def wrong(to):
    return partial(written_out, to=to)


contract = Contract(
    CALL,
    reference=written_out,
    inputs=lambda gen: {
        "parameters": step(gen, 0.1),
        "parameters, with weight decay": step(gen, 0.5, 0.2),
        "parameters, with much weight decay": step(gen, 0.03, 1.5),
        "parameters, one of them without a gradient": step(gen, 0.1, 0.2, idle=[2]),
    },
    after="params",
    scale=8.0,
    suspects={
        "p moves along the gradient, uphill": wrong(lambda p, g, lr, decay: p + lr * (g + decay * p)),
        "weight_decay has no effect": wrong(lambda p, g, lr, decay: p - lr * g),
        "weight_decay is not multiplied by lr": wrong(lambda p, g, lr, decay: p - lr * g - decay * p),
        "weight_decay moves p away from 0": wrong(lambda p, g, lr, decay: p - lr * (g - decay * p)),
        "weight_decay comes after the step: here it is of p before": wrong(
            lambda p, g, lr, decay: (p - lr * g) * (1 - lr * decay)
        ),
        "all parameters are counted: one without a gradient does not move": partial(
            written_out, tell=lambda moving, params: params
        ),
    },
    job=[
        values(title="Parameters of any shape move by -lr · (gradient + weight_decay · p)."),
        values(
            inputs=lambda gen: {"a parameter without a gradient": step(gen, 0.1, 0.2, idle=[0, 2])},
            name="without_gradient",
            title="A parameter without a gradient stays, weight decay or not, and does not count.",
        ),
    ],
    fine=[
        values(
            inputs=lambda gen: {"parameters, one of them without a gradient": step(gen, 0.1, 0.5, idle=[1])},
            after="params.grad",
            name="gradients_are_left_alone",
            title="Every `.grad` is the same afterwards: not cleared, not written to.",
        ),
        values(
            inputs=lambda gen: {"a frozen parameter, and one with zeros in `.grad`": frozen(gen)},
            name="frozen_and_zero",
            title="A parameter that was frozen since moves; one with a gradient of zeros decays.",
        ),
        values(
            inputs=lambda gen: {
                "parameters in float64 and bfloat16": given(
                    [parameter(gen, 4, dtype=torch.float64), parameter(gen, 2, 3, dtype=torch.bfloat16)], 0.25
                )
            },
            name="dtypes",
            title="One step moves parameters of several dtypes, each in its own.",
        ),
    ],
)


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
                "gradients",
                yours="its backward raises no error",
                wanted="RuntimeError: … has been modified by an inplace operation",
                likely="the write is hidden from autograd (`.data`?), or goes to other memory",
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
def test_grad_mode(answer, gen):
    """It works inside no_grad too, and recording is on or off afterwards as it was before."""
    for enabled in (False, True):
        p = parameter(gen, 3)
        wanted = moved(p, 0.1)
        with torch.set_grad_enabled(enabled), modes_kept("a step"):
            answer.sgd_step([p], lr=0.1)
        call = f"p after a step with gradients {'on' if enabled else 'off'}"
        expect_close(p.detach(), wanted, call, scale=4.0)
