"""What grades SGD: steps with each option, groups, missing gradients, state dicts; closures, memory."""

import copy
import io

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that, forbid, forbid_files

DEFAULTS = {"lr": 1e-3, "momentum": 0.0, "weight_decay": 0.0, "nesterov": False}


def written_out(start, steps, **mistake):
    """Where `steps`, pairs of a gradient or None and the options, lead; or with a mistake."""
    p = start.detach().double()
    v = torch.zeros_like(p)
    for number, (g, options) in enumerate(steps):
        o = {**DEFAULTS, **options, **mistake.get("options", {})}
        lr, mu, decay = o["lr"], o["momentum"], o["weight_decay"]
        if number == mistake.get("anew"):
            v = torch.zeros_like(p)
        if g is None and not mistake.get("rolls"):
            continue
        g = torch.zeros_like(p) if g is None else g.double()
        if mistake.get("apart"):
            p = p * (1 - lr * decay)
        else:
            g = g + decay * p * (-1 if mistake.get("grows") else 1)
        v = mu * v + (1 - mu if mistake.get("damped") else lr if mistake.get("with_rate") else 1) * g
        move = g + mu * v if o["nesterov"] else v
        p = p - (1 if mistake.get("with_rate") and not o["nesterov"] else lr) * move
    return p.float()


MISTAKES = {
    "there is no momentum: v keeps a part of itself": {"options": {"momentum": 0.0, "nesterov": False}},
    "the gradient counts by 1 - momentum, as in Adam: here it counts whole": {"damped": True},
    "weight decay is missing": {"options": {"weight_decay": 0.0}},
    "weight decay is apart from the gradient, as in AdamW: here it goes through v": {"apart": True},
    "weight decay makes the weights grow": {"grows": True},
    "lr is inside of v: old steps would keep the rate that they were taken with": {"with_rate": True},
    "nesterov is ignored": {"options": {"nesterov": False}},
    "nesterov is always on": {"options": {"nesterov": True}},
}


def expect_led(p, start, steps, when, **more):
    """Fail unless these steps lead from `start` to p; `more` mistakes by their words."""
    told = {
        words: lambda mistake=mistake: written_out(start, steps, **mistake)
        for words, mistake in {**MISTAKES, **more}.items()
    }
    expect_close(p.detach(), written_out(start, steps), when, scale=4.0, before=start, suspects=told)


def parameters(gen, *shapes):
    params = [nn.Parameter(torch.randn(shape, generator=gen)) for shape in shapes]
    return params, [p.detach().clone() for p in params]


OPTIONS = {
    "plain": {"lr": 0.1},
    "weight decay": {"lr": 0.1, "weight_decay": 0.6},
    "momentum": {"lr": 0.1, "momentum": 0.7},
    "momentum and weight decay": {"lr": 0.1, "momentum": 0.7, "weight_decay": 0.6},
    "nesterov": {"lr": 0.1, "momentum": 0.7, "nesterov": True},
    "nesterov and weight decay": {"lr": 0.1, "momentum": 0.7, "weight_decay": 0.6, "nesterov": True},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_step_by_step(answer, gen, name):
    """Each of several steps leads where the formula leads, with every option."""
    (p,), (start,) = parameters(gen, (5, 2))
    options, steps = OPTIONS[name], []
    optimizer = answer.SGD([p], **options)
    for number in range(1, 5):
        p.grad = torch.randn(5, 2, generator=gen)
        steps.append((p.grad.clone(), options))
        optimizer.step()
        if number > 1:  # at the first, many mistakes look alike
            expect_led(p, start, steps, f"p after step {number} of SGD([p], {options})")


def test_groups(answer, gen):
    """Each group has its own options, read at every step, and the arguments fill in what it leaves out."""
    params, starts = parameters(gen, (6,), (4, 2))
    common, own = {"lr": 0.2, "momentum": 0.5}, {"lr": 0.3, "weight_decay": 0.4, "momentum": 0.8}
    optimizer = answer.SGD([{"params": params[:1], **own}, {"params": iter(params[1:])}], **common)
    steps = [[], []]
    for number in range(1, 4):
        options = [own, {**common, "lr": 0.2 / number}]
        optimizer.param_groups[1]["lr"] = 0.2 / number
        for index, p in enumerate(params):
            p.grad = torch.randn(p.shape, generator=gen)
            steps[index].append((p.grad.clone(), options[index]))
        optimizer.step()
        told = {
            "the arguments of SGD count, not what the group says": {"options": {**DEFAULTS, **common}},
            "the options are those of the first group": {"options": own},
        }
        for index, p in enumerate(params):
            when = f"the parameter of group {index} after step {number}, where groups have their own options"
            expect_led(p, starts[index], steps[index], when, **told)


def test_missing_gradients(answer, gen):
    """A parameter without a gradient stays, its velocity as well, and the others go on."""
    params, starts = parameters(gen, (4,), (6,), (5,))
    options, steps = {"lr": 0.1, "momentum": 0.6, "weight_decay": 0.3}, [[], [], []]
    optimizer = answer.SGD(params, **options)
    for number in range(1, 5):
        for index, p in enumerate(params):
            missing = index == 0 or (index == 1 and number == 3)
            p.grad = None if missing else torch.randn(p.shape, generator=gen)
            steps[index].append((None if missing else p.grad.clone(), options))
        optimizer.step()
        for index, p in enumerate(params):
            kind = ["never has", "has none at step 3, but", "always has"][index]
            when = f"a parameter that {kind} a gradient, after step {number}"
            told = {"it rolls on where `.grad` is None: leave the parameter out": {"rolls": True}}
            expect_led(p, starts[index], steps[index], when, **told)


def saved(optimizer):
    """The state dict, after a trip through a file."""
    file = io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def test_resumed(answer, gen):
    """A run that goes on from a saved state dict goes on as if it had not stopped."""
    (p,), (start,) = parameters(gen, (3, 2))
    options, steps = {"lr": 0.1, "momentum": 0.8}, []
    optimizer = answer.SGD([p], **options)
    for number in range(1, 6):
        if number == 4:
            state, p = saved(optimizer), nn.Parameter(p.detach().clone())
            optimizer = answer.SGD([p], lr=7.0)
            optimizer.load_state_dict(state)
        p.grad = torch.randn(3, 2, generator=gen)
        steps.append((p.grad.clone(), options))
        optimizer.step()
        told = {"v begins anew: it is not in the state dict": {"anew": 3}}
        when = f"p after step {number} of a run that is saved and loaded before step 4"
        expect_led(p, start, steps, when, **told)


def test_written_out(answer):
    """Nothing of torch's own SGD runs."""
    p = nn.Parameter(torch.ones(3))
    with forbid_files("SGD.step()", "torch/optim/sgd.py"), forbid("SGD.step()", "fused_sgd"):
        optimizer = answer.SGD([p], lr=0.1, momentum=0.5)
        p.grad = torch.ones(3)
        optimizer.step()
    expect_that(isinstance(optimizer, torch.optim.Optimizer), "SGD is no torch.optim.Optimizer")


@pytest.mark.fine
def test_closure(answer):
    """step(closure) calls it once, with gradients on, and returns its result; step() returns None."""
    p, seen = nn.Parameter(torch.ones(6)), []
    optimizer = answer.SGD([p], lr=0.1)

    def closure():
        seen.append(torch.is_grad_enabled())
        p.grad = torch.full((6,), 2.0)
        return 0.25

    with torch.no_grad():
        result = optimizer.step(closure)
    expect_equal(len(seen), 1, "the number of calls of closure")
    expect_equal(seen[0], True, "whether gradients are on in closure, inside torch.no_grad()")
    expect_equal(result, 0.25, "step(closure) where closure returns 0.25")
    steps = [(torch.full((6,), 2.0), {"lr": 0.1})]
    expect_led(p, torch.ones(6), steps, "p after step(closure), which makes its gradient")
    expect_equal(optimizer.step(), None, "step() without a closure")


@pytest.mark.fine
@pytest.mark.parametrize("name", OPTIONS)
def test_memory(answer, gen, name):
    """A step writes into the parameter's own memory, and `.grad` is as before."""
    flat, given = torch.randn(6, generator=gen), torch.randn(4, generator=gen)
    p = flat[1:5].requires_grad_()
    start, p.grad = p.detach().clone(), given.clone()
    optimizer = answer.SGD([p], **OPTIONS[name])
    optimizer.step()
    expect_that(p.grad is not None, "`.grad` is None after a step")
    expect_equal(p.grad, given, f"`.grad` after a step with {OPTIONS[name]}")
    when = "the memory that the parameter looked at before the step"
    expect_led(flat[1:5], start, [(given, OPTIONS[name])], when)


@pytest.mark.fine
def test_velocity_is_apart(answer, gen):
    """What is written into `.grad` after a step does not change the velocity."""
    (p,), (start,) = parameters(gen, (4,))
    options, steps = {"lr": 0.1, "momentum": 0.7}, []
    optimizer = answer.SGD([p], **options)
    p.grad = torch.zeros(4)
    for _ in range(3):
        p.grad.copy_(torch.randn(4, generator=gen))
        steps.append((p.grad.clone(), options))
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        expect_led(
            p, start, steps, f"p after step {len(steps)}, with zero_grad(set_to_none=False) after each"
        )


@pytest.mark.fine
def test_no_velocity(answer):
    """Without momentum no tensor is kept for a parameter."""
    p = nn.Parameter(torch.ones(5))
    optimizer = answer.SGD([p], lr=0.1, weight_decay=0.5)
    p.grad = torch.ones(5)
    optimizer.step()
    kept = [k for k, t in optimizer.state[p].items() if isinstance(t, torch.Tensor) and t.shape == p.shape]
    expect_that(not kept, "without momentum a velocity is kept", yours=", ".join(kept))


@pytest.mark.fine
@pytest.mark.parametrize(
    "options", [{"lr": -1e-3}, {"momentum": -0.1}, {"weight_decay": -0.1}, {"nesterov": True}], ids=str
)
def test_errors(answer, options):
    """Arguments out of their range raise ValueError."""
    params = [nn.Parameter(torch.ones(2))]
    expect_raises(ValueError, lambda: answer.SGD(params, **options), f"SGD(params, **{options})")


@pytest.mark.fine
def test_zeros(answer):
    """Options of zero are in their range: a schedule may begin at a learning rate of 0."""
    zeros = {"lr": 0.0, "momentum": 0.0, "weight_decay": 0.0}
    optimizer = answer.SGD([nn.Parameter(torch.ones(2))], **zeros)
    expect_equal(optimizer.param_groups[0]["lr"], 0.0, f"lr of the group of SGD(params, **{zeros})")


def oracle(answer, gen):
    def trained(gen, options, missing=(), loaded=False):
        """Where two parameters are after each of four steps."""
        params, _ = parameters(gen, (3, 2), (4,))
        make = lambda **more: answer.SGD([{"params": [p]} for p in params], **more)  # noqa: E731
        optimizer, found = make(**options), []
        for number in range(4):
            if loaded and number == 2:
                state = copy.deepcopy(optimizer.state_dict())
                optimizer = make()
                optimizer.load_state_dict(state)
            for index, p in enumerate(params):
                g = torch.randn(p.shape, generator=gen)
                p.grad = None if (number, index) in missing else g
            optimizer.step()
            found.append([p.detach().clone() for p in params])
        return found

    return {
        **{f"four steps, {name}": lambda gen, o=o: trained(gen, o) for name, o in OPTIONS.items()},
        "a last step without a gradient": lambda gen: trained(gen, OPTIONS["momentum"], missing=[(3, 0)]),
        "a run that is loaded after two steps": lambda gen: trained(gen, OPTIONS["momentum"], loaded=True),
    }
