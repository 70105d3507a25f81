"""What grades stuck_parameter: each reason, their order, what has moved; ways to take a step, no traces."""

import copy
import math

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_that, hooks_of, hooks_of_all

CALL = "stuck_parameters(model, optimizer, train_step)"
ZERO, NONE, LOST, RATE, OUT = "zero gradient", "no gradient", "lost", "zero rate", "not in optimizer"
COPY = "clone() is missing: a parameter changes in place, and what you kept of it with it"


def sgd(params, **kwargs):
    return torch.optim.SGD(params, **{"lr": 0.1, **kwargs})


def network(gen):
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 5), nn.LayerNorm(5))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    model.register_buffer("mean", torch.zeros(3))  # no parameter: it may stay as it is
    return model


def ordinary(model, optimizer, x):
    def train_step():
        optimizer.zero_grad()
        model(x).sin().square().mean().backward()
        optimizer.step()

    return train_step


def with_gradients(params, *gradients, step):
    """A train_step that sets gradients: a number fills, None stays None. `step` may be an optimizer."""

    def train_step():
        for p, g in zip(params, gradients, strict=True):
            p.grad = None if g is None else torch.full_like(p, g)
        step() if callable(step) else step.step()

    return train_step


def weights(*values, dtype=torch.float32):
    return nn.ParameterList([nn.Parameter(torch.full((2,), float(v), dtype=dtype)) for v in values])


def expect_stuck(yours, wanted, note, likely=None):
    """`likely`: causes in words, by the reason that is given instead, "moved" or "missing"."""
    likely, what = likely or {}, f"{CALL} {note}"
    expect_that(isinstance(yours, dict), f"{what} gives no dict", yours=repr(yours))

    def check(holds, told, kind, **facts):
        cause = {"likely": likely[kind]} if kind in likely else {}
        expect_that(holds, told, **facts, **cause)

    for name in yours:
        check(
            name in wanted, f"{name!r} is in the result of {what}, though it has moved", "moved", yours=yours
        )
    for name, reason in wanted.items():
        told = f"{name!r} has not moved, and is not in the result of {what}"
        check(name in yours, told, "missing", yours=yours)
        told = f"wrong reason for {name!r} in {what}"
        check(yours[name] == reason, told, yours[name], yours=repr(yours[name]), wanted=repr(reason))


FAULTS = {
    "frozen": (
        "frozen",
        {OUT: "the table's order: frozen comes first", NONE: "ask for `requires_grad` first"},
    ),
    "forgotten": (OUT, {LOST: "look the parameter up in all groups of the optimizer, by identity"}),
    "unused": (
        NONE,
        {ZERO: "None is not a gradient of zeros", OUT: "an optimizer may have several `param_groups`"},
    ),
    "dead": (ZERO, {NONE: "a gradient of zeros is not None", LOST: "all numbers of the gradient are 0"}),
    "still": (RATE, {LOST: "the rate is that of the parameter's own group, not of the optimizer's defaults"}),
    "heavy": (LOST, {}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault(answer, gen, name):
    """Frozen, forgotten, unused, dead, still and heavy layers are told apart."""
    model = nn.ModuleDict({"good": nn.Linear(2, 2), name: nn.Linear(2, 2), "last": nn.Linear(2, 1)})
    bad, x = model[name], torch.randn(4, 2, generator=gen)
    groups = [{"params": model["good"].parameters()}, {"params": model["last"].parameters()}]
    if name == "frozen":
        bad.requires_grad_(False)
    if name == "heavy":
        bad.weight.data.fill_(1e9), bad.bias.data.fill_(1e9)
    if name != "forgotten":
        groups.append({"params": bad.parameters(), "lr": 0.0 if name == "still" else 0.1})
    optimizer = sgd(groups)

    def train_step():
        optimizer.zero_grad()
        h = model["good"](x)
        if name == "heavy":
            loss = (h + bad.weight[0] + bad.weight[1] + bad.bias).sum() * 1e-3
        elif name == "dead":
            loss = (h + bad(x) * 0.0).sum()
        else:
            loss = (h if name == "unused" else bad(h)).tanh().sum()
        (loss + model["last"](h).sum()).backward()
        optimizer.step()

    reason, likely = FAULTS[name]
    wanted = {f"{name}.weight": reason, f"{name}.bias": reason}
    yours = answer.stuck_parameters(model, optimizer, train_step)
    expect_stuck(yours, wanted, f"with a layer that is {name}", {"moved": COPY, **likely})


def test_the_first_reason_counts(answer):
    """Where several reasons are true, the first of the list is given."""
    model = weights(1, 2, 3, 4, 5)
    model[0].requires_grad_(False)  # and not in the optimizer
    model[1].requires_grad_(False)
    optimizer = sgd([{"params": [model[1], model[3], model[4]], "lr": 0.0}])
    step = with_gradients(model, None, None, None, None, 0.0, step=optimizer)
    wanted = {"0": "frozen", "1": "frozen", "2": OUT, "3": NONE, "4": ZERO}
    likely = dict.fromkeys([OUT, NONE, ZERO, RATE, LOST], "the order of the reasons: the first one counts")
    expect_stuck(answer.stuck_parameters(model, optimizer, step), wanted, "with several reasons", likely)


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
def test_healthy_models(answer, gen, kind):
    """A model whose parameters all move gives {}, whatever the optimizer, and however small the rate."""
    model = network(gen).double()
    x = torch.randn(5, 3, generator=gen).double()
    for rate, likely in ((0.5, COPY), (1e-9, "parameters are compared with a tolerance, or rounded")):
        optimizer = getattr(torch.optim, kind)(model.parameters(), lr=rate)
        yours = answer.stuck_parameters(model, optimizer, ordinary(model, optimizer, x))
        some = len(yours) < len(list(model.parameters()))
        likely = "a sum, or a mean, may stay the same where the numbers move" if some else likely
        likely = {"moved": "this is a buffer, not a parameter" if "mean" in yours else likely}
        expect_stuck(yours, {}, f"of a healthy model with {kind}, lr={rate}", likely)


def test_some_numbers_move(answer, gen):
    """An embedding of which a step uses two rows has moved, and so has what keeps its sum."""
    model = nn.ModuleDict({"table": nn.Embedding(5, 3), "pair": weights(1)})
    optimizer, signs = sgd(model.parameters()), torch.tensor([1.0, -1.0])

    def train_step():
        optimizer.zero_grad()
        (model["table"](torch.tensor([1, 3])).sum() + (model["pair"][0] * signs).sum()).backward()
        optimizer.step()

    likely = {"moved": "one number that differs is enough, and numbers that differ may have the same sum"}
    yours = answer.stuck_parameters(model, optimizer, train_step)
    expect_stuck(yours, {}, "where some rows of an embedding move", likely)


def test_head_put_in_later(answer, gen):
    """A head that is put in after the optimizer was built is not in it, even if its numbers are equal."""
    model, x = network(gen), torch.randn(4, 3, generator=gen)
    optimizer = sgd(model.parameters())
    model[2] = copy.deepcopy(model[2])
    likely = {
        "missing": "the head is another tensor than the one in the optimizer, and did not move",
        LOST: "equal numbers do not make the same tensor: compare by identity, with `is`, `id` or a set",
    }
    wanted = {"2.weight": OUT, "2.bias": OUT}
    yours = answer.stuck_parameters(model, optimizer, ordinary(model, optimizer, x))
    expect_stuck(yours, wanted, "with a head put in after the optimizer was built", likely)


def test_moves_without_gradient(answer):
    """What weight decay or momentum moves is not in the result."""
    model = weights(1, 1)
    optimizer = sgd([{"params": [model[0]], "weight_decay": 0.5}, {"params": [model[1]], "momentum": 0.9}])
    with_gradients(model, 1.0, 1.0, step=optimizer)()
    step = with_gradients(model, 0.0, 0.0, step=optimizer)
    likely = {"moved": "reasons are only for parameters that are the same as before"}
    yours = answer.stuck_parameters(model, optimizer, step)
    expect_stuck(yours, {}, "with gradients of 0, weight decay and momentum", likely)


def test_one_step(answer, gen):
    """train_step is called once."""
    model, calls = network(gen), []
    optimizer = sgd(model.parameters())
    step = ordinary(model, optimizer, torch.randn(4, 3, generator=gen))
    answer.stuck_parameters(model, optimizer, lambda: calls.append(1) or step())
    expect_that(len(calls) == 1, f"{CALL} calls train_step {len(calls)} times", wanted="once")


@pytest.mark.fine
@pytest.mark.parametrize("to_none", [True, False])
def test_gradients_are_cleared_in_the_step(answer, to_none):
    """Gradients that are cleared at the end of train_step were there nevertheless."""
    model = weights(1, 1e9, 1, 1)
    optimizer = sgd(model.parameters())

    def step():
        optimizer.step()
        optimizer.zero_grad(set_to_none=to_none)

    step = with_gradients(model, 1.0, 1.0, 0.0, None, step=step)
    likely = dict.fromkeys([NONE, ZERO], "train_step clears the gradients: look at them when the step ends")
    yours = answer.stuck_parameters(model, optimizer, step)
    expect_stuck(
        yours, {"1": LOST, "2": ZERO, "3": NONE}, f"with zero_grad(set_to_none={to_none}) at the end", likely
    )


@pytest.mark.fine
def test_warm_up(answer):
    """The rate is that of the step, before a scheduler moves on."""
    model = weights(1, 1)
    optimizer = sgd(model.parameters())
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: step / 10)
    step = with_gradients(model, 1.0, 1.0, step=lambda: (optimizer.step(), warmup.step()))
    likely = {LOST: "the scheduler has set the next rate: look at it when the optimizer's step ends"}
    yours = answer.stuck_parameters(model, optimizer, step)
    expect_stuck(yours, {"0": RATE, "1": RATE}, "at the start of a warm-up", likely)


@pytest.mark.fine
def test_closures(answer):
    """A closure that optimizer.step calls makes the gradients."""
    model = weights(1, 1e9)
    optimizer = sgd(model.parameters())

    def closure():
        optimizer.zero_grad()
        loss = model[0].sum() + model[1].sum()
        loss.backward()
        return loss

    likely = {NONE: "before the step the closure has not run: look when the step ends"}
    yours = answer.stuck_parameters(model, optimizer, lambda: optimizer.step(closure))
    expect_stuck(yours, {"1": LOST}, "with a closure", likely)


@pytest.mark.fine
@pytest.mark.parametrize("who", ["nobody", "another optimizer"])
def test_no_step(answer, gen, who):
    """Where this optimizer makes no step, that comes before gradients and rates."""
    model = weights(1, 1, 1, 1, 1)
    optimizer, other = sgd([{"params": list(model)[:3]}, {"params": [model[3]], "lr": 0.0}]), sgd(weights(1))
    step = (lambda: None) if who == "nobody" else other
    step = with_gradients(model, 1.0, None, 0.0, 1.0, 1.0, step=step)
    wanted = dict.fromkeys("0123", "no step") | {"4": OUT}
    expect_stuck(answer.stuck_parameters(model, optimizer, step), wanted, f"where {who} makes a step")


@pytest.mark.fine
def test_small_gradients(answer):
    """Gradients that are tiny or cancel out are not zero."""
    model = weights(1, 1, 1e9)
    optimizer, signs = sgd(model.parameters()), torch.tensor([1.0, -1.0])

    def step():
        model[2].grad *= signs
        optimizer.step()

    step = with_gradients(model, 1e-30, 1e-12, 1.0, step=step)
    likely = {
        ZERO: "the squares in a norm underflow, and a sum may cancel out: ask for any number that is not 0"
    }
    yours = answer.stuck_parameters(model, optimizer, step)
    expect_stuck(
        yours, {"0": LOST, "1": LOST, "2": LOST}, "with gradients of 1e-30, 1e-12 and [1, -1]", likely
    )


@pytest.mark.fine
def test_nan(answer):
    """NaN that stays NaN has not moved; numbers that NaN replaces have."""
    model = weights(math.nan, 1, math.nan)
    optimizer = sgd(model.parameters())
    step = with_gradients(model, 1.0, math.nan, None, step=optimizer)
    likely = {"missing": "NaN is not equal to itself: `torch.equal` sees a difference"}
    yours = answer.stuck_parameters(model, optimizer, step)
    expect_stuck(yours, {"0": LOST, "2": NONE}, "where 0 and 2 are NaN before and after", likely)


def everything_on(model, optimizer):
    """Everything that a tool could leave behind."""
    parts = [*model.named_modules(), ("optimizer", optimizer)]
    found = [f"{name}.{attribute}" for name, part in parts for attribute in vars(part)]
    hooks = [(name, *hook) for name, part in [*parts, *model.named_parameters()] for hook in hooks_of(part)]
    return found, [*hooks, *hooks_of_all()], [type(optimizer).step, vars(optimizer).get("step")]


@pytest.mark.fine
@pytest.mark.parametrize("raises", [False, True], ids=["returns", "raises"])
def test_no_trace_is_left(answer, gen, raises):
    """No hook is left on model or optimizer, also when train_step raises; its error comes out."""

    class Stop(Exception):
        pass

    model = network(gen)
    optimizer = sgd(model.parameters())
    optimizer.register_step_pre_hook(lambda *_: None)
    step = ordinary(model, optimizer, torch.randn(4, 3, generator=gen))

    def train_step():
        step()
        if raises:
            raise Stop

    step()
    before, raised = everything_on(model, optimizer), False
    try:
        answer.stuck_parameters(model, optimizer, train_step)
    except Stop:
        raised = True
    when = f"after {CALL} where train_step {'raises' if raises else 'returns'}"
    expect_equal(raised, raises, "whether the error of train_step comes out")
    likely = "the handle of a hook has `remove()`, and `finally` is the place for it"
    for what, now, was in zip(
        ("attributes", "hooks", "methods"), everything_on(model, optimizer), before, strict=True
    ):
        expect_that(now == was, f"model or optimizer have other {what} {when}", likely=likely)


@pytest.mark.fine
def test_the_step_is_an_ordinary_one(answer, gen):
    """train_step finds gradients, modes and random streams as they were."""
    model, found = network(gen), []
    model.append(nn.Dropout(0.5).eval())
    model[0].weight.grad = torch.ones_like(model[0].weight)

    def state():
        grad = model[0].weight.grad
        return [None if grad is None else grad.sum().item(), torch.get_rng_state().sum().item()] + [
            m.training for m in model
        ]

    before = state()
    answer.stuck_parameters(model, sgd(model.parameters()), lambda: found.append(state()))
    what = "a gradient, the random stream and the modes that train_step finds"
    expect_equal(found[0], before, what)
    expect_equal(state(), before, "a gradient, the random stream and the modes afterwards")


def oracle(answer, gen):
    kinds = {  # of what may be the matter with a parameter; 0 is nothing
        "frozen, or not in the optimizer": [0, 2, 3],
        "no gradient, or one of 0": [0, 4, 5],
        "a rate of 0, or not in the optimizer": [0, 1, 2],
        "all of it": [0, 1, 2, 3, 4, 5],
        "all of it, in a model without buffers": [0, 1, 2, 3, 4, 5],
    }

    def told(gen, reasons, buffers):
        found = []
        for _ in range(4):
            model = network(gen) if buffers else network(gen)[:]
            chosen = [reasons[n] for n in torch.randint(len(reasons), (6,), generator=gen).tolist()]
            pairs = list(zip(model.parameters(), chosen, strict=True))
            groups = [{"params": [p], "lr": 0.0 if c == 1 else 0.1} for p, c in pairs if c != 2]
            optimizer = sgd(groups or [torch.zeros(1)])
            for p, c in pairs:
                p.requires_grad_(c != 3)
            gradients = [None if c in (3, 5) else float(c != 4) for c in chosen]
            step = with_gradients(list(model.parameters()), *gradients, step=optimizer)
            found.append(answer.stuck_parameters(model, optimizer, step))
        return found

    return {
        name: lambda gen, name=name, reasons=reasons: told(gen, reasons, "without" not in name)
        for name, reasons in kinds.items()
    }
