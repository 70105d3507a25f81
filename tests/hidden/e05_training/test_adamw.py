"""What grades AdamW: steps with each option, groups, missing gradients, state dicts; closures, errors."""

import io

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that, forbid, forbid_files

DEFAULTS = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 1e-2}


def gradient(gen, *shape):
    """Numbers that are not small, so that eps = 1e-8 does not count beside them."""
    size = torch.rand(shape, generator=gen) + 0.5
    return torch.where(torch.rand(shape, generator=gen) < 0.5, -size, size)


def written_out(p, steps, **mistake):
    """Where `steps`, pairs of a gradient or None and the options, lead p; or with a mistake."""
    p = p.detach().double()
    m = v = torch.zeros_like(p)
    t = 0
    for number, (g, options) in enumerate(steps):
        if number == mistake.get("anew"):
            m, v, t = torch.zeros_like(p), torch.zeros_like(p), 0
        if g is None:
            t += bool(mistake.get("counts_all"))
            continue
        o = {**DEFAULTS, **options, **mistake.get("options", {})}
        lr, decay, (beta1, beta2), t = o["lr"], o["weight_decay"], o["betas"], t + 1
        if mistake.get("swapped"):
            beta1, beta2 = beta2, beta1
        g = g.double() + (decay * p if mistake.get("coupled") else 0)
        early = not (mistake.get("coupled") or mistake.get("late"))
        p = p * (1 - lr * decay) if early else p
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        first = m if mistake.get("raw") else m / (1 - beta1**t)
        root = v.sqrt() if mistake.get("raw") or mistake.get("raw_v") else (v / (1 - beta2**t)).sqrt()
        eps = o["eps"] / (1 - beta2**t) ** 0.5 if mistake.get("eps_early") else o["eps"]
        p = p - lr * first / (root + eps)
        p = p * (1 - lr * decay) if mistake.get("late") else p
    return p.float()


MISTAKES = {
    "there is no bias correction: divide m by 1 - β₁ᵗ and v by 1 - β₂ᵗ, t from 1 on": {"raw": True},
    "v is not divided by 1 - β₂ᵗ": {"raw_v": True},
    "the decay goes through the moments, as in Adam: here it is apart from them": {"coupled": True},
    "the decay comes after the step: here it comes before": {"late": True},
    "the betas are swapped": {"swapped": True},
    "eps is added to √v: it is added to √(v / (1 - β₂ᵗ))": {"eps_early": True},
    "1e-8 is taken, not the eps of the call": {"options": {"eps": 1e-8}},
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
    "decay": {"lr": 0.1, "weight_decay": 0.8},
    "defaults": {},
    "large steps": {"lr": 0.1},
    "betas": {"lr": 0.1, "betas": (0.5, 0.7)},
    "eps": {"lr": 0.1, "betas": (0.0, 0.0), "eps": 0.3},
}


def expect_steps(answer, gen, options):
    (p,), (start,) = parameters(gen, (5, 2))
    optimizer, steps = answer.AdamW([p], **options), []
    for number in range(1, 5):
        p.grad = gradient(gen, 5, 2)
        steps.append((p.grad.clone(), options))
        optimizer.step()
        expect_led(p, start, steps, f"p after step {number} of AdamW([p], {options})")


@pytest.mark.parametrize("name", OPTIONS)
def test_step_by_step(answer, gen, name):
    """Each of several steps leads where the formula leads, with every option."""
    expect_steps(answer, gen, OPTIONS[name])


def test_groups(answer, gen):
    """Each group has its own options, read at every step, and the arguments fill in what it leaves out."""
    params, starts = parameters(gen, (6,), (4, 2))
    common, own = {"lr": 0.05, "weight_decay": 0.4}, {"lr": 0.3, "weight_decay": 0.0}
    optimizer = answer.AdamW([{"params": params[:1], **own}, {"params": iter(params[1:])}], **common)
    steps = [[], []]
    for number in range(1, 4):
        options = [{**common, **own}, {**common, "lr": 0.05 / number}]
        optimizer.param_groups[1]["lr"] = 0.05 / number
        for index, p in enumerate(params):
            p.grad = gradient(gen, *p.shape)
            steps[index].append((p.grad.clone(), options[index]))
        optimizer.step()
        told = {
            "the arguments of AdamW count, not what the group says": {"options": common},
            "the options are those of the first group": {"options": options[0]},
        }
        for index, p in enumerate(params):
            when = f"the parameter of group {index} after step {number}, where groups have their own options"
            expect_led(p, starts[index], steps[index], when, **told)


def test_missing_gradients(answer, gen):
    """A parameter without a gradient stays as it is, and the others go on."""
    params, starts = parameters(gen, (4,), (6,), (5,))
    options, steps = {"lr": 0.1, "weight_decay": 0.3}, []
    optimizer = answer.AdamW(params, **options)
    never, sometimes, always = params
    for number in range(1, 4):
        sometimes.grad = None if number == 3 else gradient(gen, 6)
        always.grad = gradient(gen, 5)
        steps.append((always.grad.clone(), options))
        before = sometimes.detach().clone()
        optimizer.step()
        when = f"after step {number}, where others have no gradient"
        expect_led(always, starts[2], steps, f"a parameter with a gradient {when}")
    suspects = {"it decays: where `.grad` is None, leave the parameter out": lambda: starts[0] * 0.97**3}
    expect_equal(never.detach(), starts[0], "a parameter that never has a gradient", suspects=suspects)
    expect_equal(sometimes.detach(), before, "a parameter after a step for which it has no gradient")


def saved(optimizer):
    """The state dict, after a trip through a file."""
    file = io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def test_resumed(answer, gen):
    """A run that goes on from a saved state dict goes on as if it had not stopped."""
    (p,), (start,) = parameters(gen, (3, 2))
    options, steps = {"lr": 0.1, "betas": (0.5, 0.9)}, []
    optimizer = answer.AdamW([p], **options)
    for number in range(1, 6):
        if number == 4:
            state, p = saved(optimizer), nn.Parameter(p.detach().clone())
            optimizer = answer.AdamW([p], lr=7.0)
            optimizer.load_state_dict(state)
        p.grad = gradient(gen, 3, 2)
        steps.append((p.grad.clone(), options))
        optimizer.step()
        told = {"m, v and t begin anew: they are not in the state dict": {"anew": 3}}
        when = f"p after step {number} of a run that is saved and loaded before step 4"
        expect_led(p, start, steps, when, **told)


OWN = [f"torch/optim/{name}.py" for name in ("adam", "adamw", "nadam", "radam", "adamax")]


def test_written_out(answer, gen):
    """Nothing of torch's own Adam and AdamW runs."""
    (p,), _ = parameters(gen, (3,))
    with forbid_files("AdamW.step()", *OWN), forbid("AdamW.step()", "fused_adam", "fused_adamw"):
        optimizer = answer.AdamW([p], lr=0.1)
        p.grad = gradient(gen, 3)
        optimizer.step()
    expect_that(isinstance(optimizer, torch.optim.Optimizer), "AdamW is no torch.optim.Optimizer")


@pytest.mark.fine
def test_eps_in_the_first_steps(answer, gen):
    """eps is added to the root of the corrected v."""
    expect_steps(answer, gen, {"lr": 0.1, "eps": 0.3})


@pytest.mark.fine
def test_added_later(answer, gen):
    """A parameter that is added later begins at t = 1, and so does one whose first gradient comes later."""
    params, starts = parameters(gen, (3, 2), (4, 2), (5, 2))
    optimizer, steps = answer.AdamW([params[0], params[2]], lr=0.1), [[], [], []]
    names = [
        "a parameter",
        "a parameter that is added before step 3",
        "one whose first gradient comes at step 3",
    ]
    told = {"its t counts the steps of others": {"counts_all": True}}
    for number in range(1, 5):
        if number == 3:
            optimizer.add_param_group({"params": [params[1]]})
        for index, p in enumerate(params):
            p.grad = gradient(gen, *p.shape) if index == 0 or number > 2 else None
            steps[index].append((None if p.grad is None else p.grad.clone(), {"lr": 0.1}))
        optimizer.step()
        for name, p, start, taken in zip(names, params, starts, steps, strict=True):
            expect_led(p, start, taken, f"{name}, after step {number}", **told)


@pytest.mark.fine
def test_closure(answer, gen):
    """closure runs once, with gradients on, before the step, and its result is returned."""
    (p,), (start,) = parameters(gen, (6,))
    optimizer, calls = answer.AdamW([p], lr=0.1), []

    def closure():
        calls.append(torch.is_grad_enabled())
        p.grad = torch.ones(6)
        return 0.25

    with torch.no_grad():
        result = optimizer.step(closure)
    expect_equal(calls, [True], "whether gradients are on, at each call of closure")
    expect_equal(result, 0.25, "step(closure) where closure returns 0.25")
    expect_led(p, start, [(torch.ones(6), {"lr": 0.1})], "p after step(closure), which makes its gradient")
    expect_equal(optimizer.step(), None, "step() without a closure")


@pytest.mark.fine
def test_memory(answer, gen):
    """A step writes into the parameter's own memory, and `.grad` is as before."""
    flat = torch.randn(6, generator=gen)
    p, given = flat[1:5].requires_grad_(), gradient(gen, 4)
    start, p.grad = p.detach().clone(), given.clone()
    optimizer = answer.AdamW([p], lr=0.1, weight_decay=0.3)
    optimizer.step()
    expect_that(p.grad is not None, "`.grad` is None after a step")
    expect_equal(p.grad, given, "`.grad` after a step")
    steps = [(given, {"lr": 0.1, "weight_decay": 0.3})]
    expect_led(flat[1:5], start, steps, "the memory that the parameter looked at before the step")


@pytest.mark.fine
def test_float64(answer, gen):
    """Moments have the dtype of their parameter."""
    p = nn.Parameter(torch.randn(4, generator=gen, dtype=torch.float64))
    optimizer = answer.AdamW([p])
    p.grad = gradient(gen, 4).double()
    optimizer.step()
    for t in optimizer.state[p].values():
        if isinstance(t, torch.Tensor) and t.shape == p.shape:
            expect_equal(t.dtype, p.dtype, "the dtype of a moment of a parameter in float64")


@pytest.mark.fine
@pytest.mark.parametrize(
    "options",
    [{"lr": -1e-3}, {"eps": -1e-8}, {"weight_decay": -0.1}, {"betas": (-0.1, 0.9)}, {"betas": (0.9, 1.0)}],
    ids=str,
)
def test_errors(answer, options):
    """Arguments out of their range raise ValueError."""
    params = [nn.Parameter(torch.ones(2))]
    expect_raises(ValueError, lambda: answer.AdamW(params, **options), f"AdamW(params, **{options})")


@pytest.mark.fine
def test_zeros(answer):
    """Options of zero are in their range: a schedule may begin at a learning rate of 0."""
    zeros = {"lr": 0.0, "eps": 0.0, "weight_decay": 0.0, "betas": (0.0, 0.0)}
    optimizer = answer.AdamW([nn.Parameter(torch.ones(2))], **zeros)
    expect_equal(optimizer.param_groups[0]["lr"], 0.0, f"lr of the group of AdamW(params, **{zeros})")


def oracle(answer, gen):
    def trained(gen, groups, missing=(), loaded=False, defaults=None):
        """Where the parameters are after each of four steps."""
        params, _ = parameters(gen, *[(3, 2)] * len(groups))
        groups = [{"params": [p], **options} for p, options in zip(params, groups, strict=True)]
        optimizer, found = answer.AdamW(groups, **(defaults or {})), []
        for number in range(4):
            if loaded and number == 2:
                state = optimizer.state_dict()
                optimizer = answer.AdamW([{"params": [p]} for p in params])
                optimizer.load_state_dict(state)
            for index, p in enumerate(params):
                g = gradient(gen, 3, 2)
                p.grad = None if (number, index) in missing else g
            optimizer.step()
            found.append([p.detach().clone() for p in params])
        return found

    own = [{"lr": 0.2, "weight_decay": 0.5}, {"lr": 0.1, "betas": (0.4, 0.8)}]
    return {
        "four steps of one group": lambda gen: trained(gen, [{}], defaults={"lr": 0.2}),
        "four steps of one group, with weight decay": lambda gen: trained(
            gen, [{}], defaults={"lr": 0.1, "weight_decay": 0.4}
        ),
        "four steps of two groups with options of their own": lambda gen: trained(gen, own),
        "a last step without a gradient": lambda gen: trained(
            gen, [{}, {}], missing=[(3, 0)], defaults={"lr": 0.3}
        ),
        "a run that is loaded after two steps": lambda gen: trained(
            gen, [{"lr": 0.1, "weight_decay": 0.3}], loaded=True
        ),
    }
