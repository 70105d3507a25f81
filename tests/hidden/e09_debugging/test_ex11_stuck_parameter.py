"""What grades stuck_parameter: each reason, their order, healthy models, ways to take a step, no traces."""

import copy
import math

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_that, hooks_of, hooks_of_all
from grader.checks.devices import is_simulated

CALL = "stuck_parameters(model, optimizer, train_step)"
ZERO, NONE, LOST, RATE = "zero gradient", "no gradient", "lost", "zero rate"


def network(gen):
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 5), nn.LayerNorm(5))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    model.register_buffer("mean", torch.zeros(3))  # no parameter: it may stay as it is
    return model


def sgd(params, **kwargs):
    return torch.optim.SGD(params, **{"lr": 0.1, **kwargs})


def ordinary(model, optimizer, x, clear=True):
    def train_step():
        if clear:
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


@pytest.mark.parametrize("name", ["SGD", "AdamW", "Adagrad"])
def test_healthy_models(answer, gen, name):
    """A model whose parameters all move gives {}, whatever the optimizer."""
    for dtype in (torch.float32, torch.float64):
        model = network(gen).to(dtype)
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.5)
        x = torch.randn(5, 3, generator=gen).to(dtype)
        yours = answer.stuck_parameters(model, optimizer, ordinary(model, optimizer, x))
        expect_equal(yours, {}, f"{CALL} of a healthy model in {dtype} with {name}")


def test_each_fault(answer, gen):
    """Frozen, forgotten, unused, dead and still layers are told apart."""
    model = nn.ModuleDict({name: nn.Linear(2, 2) for name in ("good", "frozen", "other", "unused", "still")})
    model["dead"] = nn.Linear(2, 2)
    model["frozen"].requires_grad_(False)
    groups = [
        {"params": [*model["good"].parameters(), *model["frozen"].parameters()]},
        {"params": [*model["unused"].parameters(), *model["dead"].parameters()]},
        {"params": model["still"].parameters(), "lr": 0.0},
    ]
    optimizer, x = sgd(groups), torch.randn(4, 2, generator=gen)

    def train_step():
        optimizer.zero_grad()
        h = model["still"](model["frozen"](model["good"](x)))
        h = model["other"](h) + model["dead"](x) * 0.0
        h.sin().sum().backward()
        optimizer.step()

    wanted = {}
    for name, reason in {
        "frozen": "frozen",
        "other": "not in optimizer",
        "unused": NONE,
        "still": RATE,
        "dead": ZERO,
    }.items():
        wanted |= {f"{name}.weight": reason, f"{name}.bias": reason}
    for turn in ("first", "second"):
        yours = answer.stuck_parameters(model, optimizer, train_step)
        expect_equal(yours, wanted, f"the {turn} {CALL}")


def test_the_first_reason_counts(answer):
    """Where several reasons are true, the first in the table is given."""
    model = weights(1, 2, 3, 4, 5, 6)
    model[0].requires_grad_(False)  # and not in the optimizer
    model[1].requires_grad_(False)
    optimizer = sgd(
        [{"params": [model[1], model[3], model[4]], "lr": 0.0}, {"params": [model[5]], "lr": 0.0}],
        momentum=0.9,  # whose state says that there have been steps
    )
    step = with_gradients(model, None, None, None, None, 0.0, 1.0, step=optimizer)
    wanted = {"0": "frozen", "1": "frozen", "2": "not in optimizer", "3": NONE, "4": ZERO, "5": RATE}
    expect_equal(answer.stuck_parameters(model, optimizer, step), wanted, f"{CALL} with several reasons")
    step = with_gradients(model, None, None, None, None, 0.0, 1.0, step=lambda: None)
    wanted |= {"3": "no step", "4": "no step", "5": "no step"}
    expect_equal(answer.stuck_parameters(model, optimizer, step), wanted, f"{CALL} without a step")


def test_no_step(answer, gen):
    """Without a step of this optimizer, or with one of another, the reason is that there was none."""
    model = network(gen)
    mine, others = list(model[0].parameters()), list(model[2].parameters())
    optimizer, other = sgd(mine), sgd([*others, *model[3].parameters()])
    x = torch.randn(4, 3, generator=gen)
    yours = answer.stuck_parameters(model, optimizer, ordinary(model, other, x))
    wanted = {"0.weight": "no step", "0.bias": "no step"}
    expect_equal(yours, wanted, f"{CALL} where another optimizer steps")
    expect_equal(answer.stuck_parameters(weights(1), sgd(weights(1)), int), {"0": "not in optimizer"}, CALL)


def test_equal_is_not_the_same(answer, gen):
    """An optimizer of a copy of the model moves the copy."""
    model = network(gen)
    twin = copy.deepcopy(model)
    optimizer = sgd(twin.parameters())
    x = torch.randn(4, 3, generator=gen)
    step = ordinary(model, optimizer, x)
    wanted = {name: "not in optimizer" for name, _ in model.named_parameters()}
    expect_equal(answer.stuck_parameters(model, optimizer, step), wanted, f"{CALL} with the copy's optimizer")
    optimizer = sgd(model.parameters())
    model[2] = nn.Linear(4, 5)
    wanted = {"2.weight": "not in optimizer", "2.bias": "not in optimizer"}
    yours = answer.stuck_parameters(model, optimizer, ordinary(model, optimizer, x))
    expect_equal(yours, wanted, f"{CALL} with a head put in after the optimizer was built")


def test_layers_that_the_step_thaws(answer):
    """What is frozen, and what the optimizer holds, is judged as it is after train_step."""
    model = weights(1, 2, 3, 4, 1e20, 5)
    late, thawed, frozen, _, large, still = model
    thawed.requires_grad_(False)
    optimizer = sgd(list(model)[1:4])

    def train_step():
        thawed.requires_grad_(True)
        frozen.requires_grad_(False)
        optimizer.add_param_group({"params": [late, large]})
        optimizer.add_param_group({"params": [still], "lr": 0.0})
        with_gradients(model, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, step=optimizer)()

    wanted = {"0": ZERO, "1": ZERO, "2": "frozen", "4": LOST, "5": RATE}
    yours = answer.stuck_parameters(model, optimizer, train_step)
    expect_equal(yours, wanted, f"{CALL} whose step adds 0, 4 and 5 (with a rate of 0), thaws 1, freezes 2")
    model = weights(1, 2)
    optimizer = sgd([model[1]])
    model[0].requires_grad_(False)

    def thaw_at_the_end():
        with_gradients(model, None, 1.0, step=optimizer)()
        optimizer.add_param_group({"params": [model[0].requires_grad_(True)]})

    yours = answer.stuck_parameters(model, optimizer, thaw_at_the_end)
    expect_that(
        yours in ({"0": NONE}, {"0": LOST}),  # none but "no step" is wide of the mark
        f"wrong result from {CALL} which thaws and adds 0 when the step is made",
        yours=yours,
        wanted={"0": NONE},
    )


def test_what_moves_is_not_stuck(answer):
    """Weight decay, momentum, the caller's own hand: what has moved is not in the result."""
    model = weights(1, 1, 1, 1, 1)
    model.extend([nn.Parameter(torch.tensor([1.0, 2.0])), nn.Parameter(torch.ones(2).double())])
    model.append(nn.Parameter(torch.ones(2, dtype=torch.complex64)))
    model.append(nn.Parameter(torch.tensor([math.nan, math.nan])))
    model[2].requires_grad_(False)
    groups = [{"params": [model[0]], "weight_decay": 0.5}, {"params": [model[1]], "momentum": 0.9}]
    optimizer = sgd([*groups, {"params": [model[4]], "lr": 0.0}])
    with_gradients(model, 1.0, 1.0, *[None] * 7, step=optimizer)()

    def by_hand():
        optimizer.step()
        with torch.no_grad():
            model[2].data.add_(1.0)  # frozen, and autograd does not count the write
            model[3][1] = -1.0  # not in the optimizer; one number of two, which was 1
            model[4].mul_(1 + 1e-6)
            model[5].copy_(model[5].flip(0))  # the same sum
            model[6].add_(1e-12)  # float64
            model[7].add_(1j)  # the imaginary parts alone
            model[8].zero_()

    step = with_gradients(model, 0.0, 0.0, None, None, 0.0, *[None] * 4, step=by_hand)
    how = "2 through .data, 6 by 1e-12 in float64, 7, complex, by 1j and 8 from NaN to 0"
    call = f"{CALL} where all has moved, {how}"
    expect_equal(answer.stuck_parameters(model, optimizer, step), {}, call)


def test_small_gradients_and_nan(answer):
    """Gradients that are tiny, cancel out or hold NaN are not zero; numbers that NaN replaces have moved."""
    model = weights(1, 1, math.nan, 1, 1e-20)
    optimizer = sgd(model.parameters())
    step = with_gradients(model, 1e-30, 1e-12, 1.0, math.nan, 1e-15, step=optimizer)
    wanted = {"0": LOST, "1": LOST, "2": LOST}
    expect_equal(answer.stuck_parameters(model, optimizer, step), wanted, f"{CALL} with tiny gradients")
    model = nn.ParameterList([torch.tensor([1e9, 1e9]), torch.tensor([math.nan, math.nan]), torch.ones(3)])
    optimizer = sgd(model.parameters())

    def cancelling():
        model[0].grad = torch.tensor([1.0, -1.0])
        model[1].grad = torch.tensor([math.nan, 0.0])
        model[2].grad = torch.tensor([0.0, 0.0, -1.0])
        optimizer.step()

    wanted = {"0": LOST, "1": LOST}
    yours = answer.stuck_parameters(model, optimizer, cancelling)
    expect_equal(yours, wanted, f"{CALL} with gradients that cancel out")
    model = nn.ParameterList([torch.tensor([math.nan, 1.0]), torch.tensor([math.nan, 1.0])])
    optimizer = sgd(model.parameters())
    step = with_gradients(model, 0.0, 1.0, step=optimizer)
    yours = answer.stuck_parameters(model, optimizer, step)
    expect_equal(yours, {"0": ZERO}, f"{CALL} with NaN in one of two numbers")
    model = nn.ParameterList([torch.full((2,), math.nan + 0j), torch.full((2,), 1e30 + 1e30j)])
    optimizer = sgd(model.parameters())
    step = with_gradients(model, 0.0, 1e-20j, step=optimizer)
    yours = answer.stuck_parameters(model, optimizer, step)
    wanted = {"0": ZERO, "1": LOST}
    expect_equal(
        yours, wanted, f"{CALL} of complex parameters: 0 is NaN and stays, 1 has the gradient 1e-20j"
    )


def test_rounded_away(answer):
    """An update that bfloat16 cannot hold is lost, in float32 it is not."""
    for dtype, wanted in ((torch.bfloat16, {"0": LOST}), (torch.float16, {"0": LOST}), (torch.float32, {})):
        model = weights(1, 0.001, dtype=dtype)
        optimizer = sgd(model.parameters(), lr=1e-4)
        step = with_gradients(model, 1.0, 1.0, step=optimizer)
        expect_equal(answer.stuck_parameters(model, optimizer, step), wanted, f"{CALL} in {dtype}")
    model = weights(0.1, dtype=torch.float64)  # a number that float32 has not
    optimizer = sgd(model.parameters())
    step = with_gradients(model, 1e-200, step=optimizer)  # whose square is 0
    expect_equal(answer.stuck_parameters(model, optimizer, step), {"0": LOST}, f"{CALL} in torch.float64")


def test_gradients_are_cleared_in_the_step(answer, gen):
    """Gradients that are cleared at the end of train_step were there nevertheless."""
    for set_to_none in (True, False):
        model = network(gen)
        model.register_parameter("big", nn.Parameter(torch.full((2,), 1e9)))
        model.register_parameter("dead", nn.Parameter(torch.ones(2)))
        model.register_parameter("unused", nn.Parameter(torch.ones(2)))
        optimizer = sgd(model.parameters())

        def train_step(model=model, optimizer=optimizer, set_to_none=set_to_none):
            loss = model(torch.ones(2, 3)).sin().sum() + model.big.sum() + (model.dead * 0).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=set_to_none)

        yours = answer.stuck_parameters(model, optimizer, train_step)
        wanted = {"big": LOST, "dead": ZERO, "unused": NONE}
        expect_equal(yours, wanted, f"{CALL} with zero_grad(set_to_none={set_to_none}) at the end")


def test_closures(answer, gen):
    """A closure that optimizer.step calls makes the gradients."""
    model = network(gen)
    model.register_parameter("big", nn.Parameter(torch.full((2,), 1e9)))
    optimizer, x = sgd(model.parameters()), torch.randn(4, 3, generator=gen)

    def closure():
        optimizer.zero_grad()
        loss = model(x).sin().sum() + model.big.sum()
        loss.backward()
        return loss

    yours = answer.stuck_parameters(model, optimizer, lambda: optimizer.step(closure))
    expect_equal(yours, {"big": LOST}, f"{CALL} with a closure")


@pytest.mark.parametrize("tensor", [False, True], ids=["float", "tensor"])
def test_rates(answer, tensor):
    """The rate is that of the parameter's own group at the step, before a scheduler moves on."""
    model = weights(1, 1)
    zero, some = (torch.tensor(0.0), torch.tensor(0.1)) if tensor else (0.0, 0.1)
    optimizer = sgd([{"params": [model[0]], "lr": zero}, {"params": [model[1]], "lr": some}], lr=some)
    step = with_gradients(model, 1.0, 1.0, step=optimizer)
    expect_equal(answer.stuck_parameters(model, optimizer, step), {"0": RATE}, f"{CALL} with two rates")
    zero += 1e-12
    optimizer.param_groups[0]["lr"] = zero  # 1 - 1e-12 is 1 in float32
    expect_equal(answer.stuck_parameters(model, optimizer, step), {"0": LOST}, f"{CALL} with a rate of 1e-12")
    model = weights(1, 1)
    optimizer = sgd(model.parameters(), lr=torch.tensor(0.1) if tensor else 0.1)
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: step / 10)

    def stepping():
        optimizer.step()
        warmup.step()

    step = with_gradients(model, 1.0, 1.0, step=stepping)
    wanted = {"0": RATE, "1": RATE}
    expect_equal(answer.stuck_parameters(model, optimizer, step), wanted, f"{CALL} at the start of a warm-up")
    expect_equal(answer.stuck_parameters(model, optimizer, step), {}, f"{CALL} at the next step of a warm-up")


def test_several_steps(answer):
    """With several steps, a reason must hold in all of them."""
    model = weights(1, 1, 1, 1, 1, 1e20, 1e20, 1, 1e20)
    optimizer = sgd([{"params": [p]} for p in model])

    def stepping():
        optimizer.step()
        for p, g in zip(model, (-1.0, None, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, None), strict=True):
            p.grad = None if g is None else torch.full_like(p, g)
        for group, rate in zip(optimizer.param_groups[3:8], (0.1, 0.0, 0.0, 0.1, 0.0), strict=True):
            group["lr"] = rate
        optimizer.step()

    optimizer.param_groups[3]["lr"] = 0.0
    optimizer.param_groups[4]["lr"] = 0.0
    optimizer.param_groups[7]["lr"] = 0.0
    # there and back; none, none; zero, zero; a gradient without a rate, a rate without a gradient; no rate;
    # lost in rounding, with a rate of 0 in the second step only, and with no gradient in the first only;
    # no rate in either, and in the first a gradient of 0 as well; lost, with no gradient in the second only
    step = with_gradients(model, 1.0, None, 0.0, 1.0, 1.0, 1.0, None, 0.0, 1.0, step=stepping)
    yours = answer.stuck_parameters(model, optimizer, step)
    with torch.no_grad():
        same = bool((model[0] == 1).all())
    wanted = {"1": NONE, "2": ZERO, "3": LOST, "4": RATE, "5": LOST, "6": LOST, "7": RATE, "8": LOST}
    wanted |= {"0": LOST} if same else {}
    expect_equal(yours, wanted, f"{CALL} with two steps")


def test_sparse_gradients(answer):
    """Sparse gradients count like others."""
    model = nn.ModuleList([nn.Embedding(5, 2, sparse=True) for _ in range(4)])
    model[3].weight.data.zero_()
    optimizer = sgd(model.parameters())

    def train_step():
        optimizer.zero_grad()
        ids = torch.tensor([1, 3, 1])
        (model[0](ids).sum() + model[1](ids).sum() * 0.0).backward()
        rows = model[3](torch.tensor([2, 2]))  # listed twice, with 1 and -1: the gradient is 0
        (rows[0] - rows[1]).sum().backward()
        optimizer.step()

    wanted = {"1.weight": ZERO, "2.weight": NONE, "3.weight": ZERO}
    expect_equal(
        answer.stuck_parameters(model, optimizer, train_step), wanted, f"{CALL} of sparse embeddings"
    )


def test_ties_and_empty_parameters(answer):
    """A tied weight goes by its first name, and a parameter without elements is never stuck."""
    model = nn.ModuleDict({"inner": nn.Linear(2, 2, bias=False), "outer": nn.Linear(2, 2, bias=False)})
    model["outer"].weight = model["inner"].weight
    model["outer"].register_parameter("nothing", nn.Parameter(torch.zeros(0, 3)))
    model["outer"].register_parameter("scalar", nn.Parameter(torch.tensor(2.0)))
    optimizer = sgd([model["outer"].weight])
    step = with_gradients([model["inner"].weight], 0.0, step=optimizer)
    wanted = {"inner.weight": ZERO, "outer.scalar": "not in optimizer"}
    expect_equal(answer.stuck_parameters(model, optimizer, step), wanted, f"{CALL} with a tied weight")


def everything_on(model, optimizer):
    """Everything that a tool could leave behind."""
    modules = [*model.named_modules(), ("", optimizer)]
    found = [(name, attribute) for name, part in modules for attribute in vars(part)]
    holders = [*modules, *model.named_parameters()]
    found += [(name, *hook) for name, holder in holders for hook in hooks_of(holder)]
    found += hooks_of_all()
    methods = [type(optimizer).step, vars(optimizer).get("step"), type(model).__call__]
    return found, methods


class Stop(RuntimeError):
    pass


@pytest.mark.parametrize("where", ["returns", "raises before", "raises KeyboardInterrupt after"])
def test_no_trace_is_left(answer, gen, where):
    """No hook is left on model or optimizer, also when train_step raises; its error passes through."""
    model, calls = network(gen), []
    optimizer = sgd(model.parameters(), momentum=0.9)
    if where != "returns":
        torch.optim.lr_scheduler.StepLR(optimizer, 5)  # which puts a step of its own on the optimizer
    optimizer.register_step_post_hook(lambda *_: calls.append("after"))
    optimizer.register_step_pre_hook(lambda *_: calls.append("before"))
    model[0].register_forward_hook(lambda *_: calls.append("forward"))
    step = ordinary(model, optimizer, torch.randn(4, 3, generator=gen))

    def train_step():
        if where == "raises before":
            raise Stop
        step()
        if where == "raises KeyboardInterrupt after":
            raise KeyboardInterrupt

    step()
    calls.clear()
    before = everything_on(model, optimizer)
    raised = False
    try:
        answer.stuck_parameters(model, optimizer, train_step)
    except (Stop, KeyboardInterrupt):
        raised = True
    expect_equal(
        raised, where != "returns", f"whether the error of train_step reaches the caller, where it {where}"
    )
    after = everything_on(model, optimizer)
    left = [str(found) for found in after[0] if found not in before[0]]
    expect_that(
        after[0] == before[0],
        f"model or optimizer have other hooks or attributes after {CALL} where train_step {where}",
        yours=", ".join(left) or "one is gone",
        wanted="those of before: a hook is removed, also after an error",
    )
    same = all(a is b for a, b in zip(after[1], before[1], strict=True))
    expect_that(same, f"a method of model or optimizer is another after {CALL} where train_step {where}")
    expect_equal(
        calls,
        [] if where == "raises before" else ["forward", "before", "after"],
        "the calls of others' hooks",
    )


def test_the_step_is_an_ordinary_one(answer, gen):
    """train_step runs once and does what it would do alone: numbers, gradients, modes, random streams."""
    model, calls = network(gen), []
    model.insert(1, nn.Dropout(0.5))
    model[2].eval()
    model[0].bias.requires_grad_(False)
    twin = copy.deepcopy(model)
    x = torch.randn(4, 3, generator=gen)
    for p in (*model.parameters(), *twin.parameters()):
        p.grad = torch.ones_like(p)
    torch.manual_seed(5)
    for _ in range(2):
        optimizer_of_twin = sgd(twin.parameters(), momentum=0.9)
        ordinary(twin, optimizer_of_twin, x, clear=False)()
    state = torch.get_rng_state()
    torch.manual_seed(5)
    for _ in range(2):
        optimizer = sgd(model.parameters(), momentum=0.9)
        step = ordinary(model, optimizer, x, clear=False)
        answer.stuck_parameters(model, optimizer, lambda step=step: (calls.append(1), step()))
    expect_equal(len(calls), 2, f"the runs of train_step in two {CALL}")
    expect_that(torch.equal(state, torch.get_rng_state()), f"{CALL} draws random numbers")
    for (name, p), q in zip(model.named_parameters(), twin.named_parameters(), strict=True):
        expect_equal(p.detach(), q[1].detach(), f"{name} after two {CALL}")
        if q[1].grad is None:
            expect_that(p.grad is None, f"{name} has a gradient after {CALL}")
        else:
            expect_equal(p.grad, q[1].grad, f"the gradient of {name} after two {CALL}")
        expect_equal(p.requires_grad, name != "0.bias", f"requires_grad of {name} after {CALL}")
    recording = []
    for mode in (True, False):
        with torch.set_grad_enabled(mode):
            answer.stuck_parameters(model, optimizer, lambda: recording.append(torch.is_grad_enabled()))
    expect_equal(recording, [True, False], f"whether train_step records gradients in {CALL}, on and off,")
    expect_equal([m.training for m in model], [m.training for m in twin], f"the modes after {CALL}")


def test_on_a_device(answer, gen, device):
    """A model on another device is judged there."""
    model = network(gen).to(device)
    model[2].requires_grad_(False)
    optimizer = sgd(model.parameters())
    x = torch.randn(4, 3, generator=gen).to(device)
    yours = answer.stuck_parameters(model, optimizer, ordinary(model, optimizer, x))
    expect_equal(yours, {"2.weight": "frozen", "2.bias": "frozen"}, f"{CALL} on another device")
    expect_that(all(map(is_simulated, model.parameters())), f"{CALL} moves the model")


def oracle(answer, gen):
    kinds = {  # of what may be the matter with a parameter; 0 is nothing
        "frozen, or not in the optimizer": [0, 2, 3],
        "no gradient, or one of 0": [0, 4, 5],
        "a rate of 0, or not in the optimizer": [0, 1, 2],
        "all of it": [0, 1, 2, 3, 4, 5],
    }
    results = {}
    for name, reasons in kinds.items():
        results[name] = []
        for _ in range(3):
            model = network(gen)
            chosen = [reasons[n] for n in torch.randint(len(reasons), (6,), generator=gen).tolist()]
            parameters = list(model.parameters())
            groups = [
                {"params": [p], "lr": 0.0 if c == 1 else 0.1}
                for p, c in zip(parameters, chosen, strict=True)
                if c != 2
            ]
            optimizer = sgd(groups or [torch.zeros(1)])
            for p, c in zip(parameters, chosen, strict=True):
                p.requires_grad_(c != 3)
            gradients = [None if c in (3, 5) else float(c != 4) for c in chosen]
            step = with_gradients(parameters, *gradients, step=optimizer)
            results[name].append(answer.stuck_parameters(model, optimizer, step))
    return results
