"""What grades MasterWeights: masters, steps in float32, loss scales, resuming; memory, devices."""

import copy
import io
from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, shares_storage
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated


def momentum(masters):
    """In two groups."""
    groups = [{"params": masters[2:], "lr": 0.03}, {"params": masters[:2]}]
    return torch.optim.SGD(groups, lr=0.01, momentum=0.9, weight_decay=0.1)


MAKERS = {
    "SGD": partial(torch.optim.SGD, lr=0.01),
    "SGD with momentum": momentum,
    "AdamW": partial(torch.optim.AdamW, lr=1e-3),
}
MISTAKES = {
    "the gradients of all steps so far add up": {"adds": True},
    "the masters are made anew of the rounded parameters": {"anew": True},
    "the gradient is divided in the model's dtype, and widened then": {"narrow": True},
    "loss_scale is ignored": {"power": 0},
    "the gradient is multiplied by loss_scale": {"power": 1},
}


def network(gen, dtype=torch.bfloat16):
    """Linear layers in `dtype`, and a norm in float32 between them."""
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2)).to(dtype)
    model[1].float()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    return model


def draw(gen, model, steps, size=1.0):
    """Gradients for some steps, in the dtypes of the parameters."""
    params = list(model.parameters())
    return [[(size * torch.randn(p.shape, generator=gen)).to(p.dtype) for p in params] for _ in range(steps)]


def give(model, grads):
    for p, g in zip(model.parameters(), grads, strict=True):
        p.grad = g.clone().to(p.device)


def by_hand(starts, make, drawn, scale=1.0, adds=False, anew=False, narrow=False, power=-1):
    """The masters after these steps, in float64; or with a mistake."""
    masters = [p.detach().double().requires_grad_() for p in starts]
    optimizer = make(masters)
    for grads in drawn:
        for m, g, p in zip(masters, grads, starts, strict=True):
            if anew:
                m.data.copy_(m.detach().to(p.dtype))
            new = (g / scale).double() if narrow else g.double() * scale**power
            m.grad = m.grad + new if adds and m.grad is not None else new
        optimizer.step()
    return [m.detach().float() for m in masters]


def expect_follows(training, model, starts, make, drawn, about, scale=1.0):
    """Masters as in float64, and the parameters as the masters, rounded."""
    wanted = by_hand(starts, make, drawn, scale)
    expect_equal(len(training.masters), len(wanted), "the number of masters")
    rows = zip(training.masters, model.parameters(), starts, wanted, strict=True)
    for index, (master, p, start, right) in enumerate(rows):
        suspects = {
            told: lambda how=how, index=index: by_hand(starts, make, drawn, scale, **how)[index]
            for told, how in MISTAKES.items()
        }
        call = f"masters[{index}] after {about}"
        before = start.detach().float()
        expect_close(master.detach().cpu(), right, call, scale=2.0, before=before, suspects=suspects)
        rounded = {
            "rounded by way of bfloat16": lambda m=master, p=p: m.detach().bfloat16().to(p.dtype).cpu()
        }
        call = f"parameter {index} (its master, rounded) after {about}"
        wanted = master.detach().to(p.dtype).cpu()
        expect_close(p.detach().cpu(), wanted, call, ulps=0, before=start.detach(), suspects=rounded)


def test_masters(answer, gen):
    """The optimizer holds one float32 copy of each parameter, in order."""
    model, made = network(gen), []

    def make(masters):
        made.append(list(masters))
        return torch.optim.SGD(masters, lr=0.5)

    training = answer.MasterWeights(model, make)
    expect_equal(len(made), 1, "the number of times that make_optimizer is called")
    expect_equal(len(made[0]), len(list(model.parameters())), "the number of masters")
    for given, master, p in zip(made[0], training.masters, model.parameters(), strict=True):
        expect_that(given is master, "make_optimizer is given other tensors than self.masters")
        expect_close(master.detach(), p.detach().float(), "a master at first")
    expect_equal(type(training.optimizer).__name__, "SGD", "the type of self.optimizer")


def test_tiny_steps_survive(answer, gen):
    """Steps too small for 16 bits add up in the masters, and reach the model."""
    model, make = network(gen), partial(torch.optim.SGD, lr=1e-4)
    starts = copy.deepcopy(list(model.parameters()))
    drawn = draw(gen, model, 1) * 50
    training = answer.MasterWeights(model, make)
    for grads in drawn:
        give(model, grads)
        training.step()
    expect_follows(training, model, starts, make, drawn, "50 steps with a learning rate of 1e-4")


@pytest.mark.parametrize("kind", MAKERS)
def test_steps(answer, gen, kind):
    """Step by step, masters are those of the optimizer in float64, and the model is the masters, rounded."""
    model, make = network(gen), MAKERS[kind]
    starts, drawn = copy.deepcopy(list(model.parameters())), draw(gen, model, 3)
    training = answer.MasterWeights(model, make)
    for number, grads in enumerate(drawn, start=1):
        give(model, grads)
        training.step()
        expect_follows(training, model, starts, make, drawn[:number], f"step {number} with {kind}")


@pytest.mark.parametrize("scale, size", [(65536.0, 1e-3), (1000.0, 3.0)], ids=["vanish", "digits"])
def test_loss_scale(answer, gen, scale, size):
    """Gradients in float16 are divided by loss_scale in float32: none vanishes or loses digits."""
    model, make = network(gen, torch.float16), partial(torch.optim.SGD, lr=scale / size / 10)
    starts, drawn = copy.deepcopy(list(model.parameters())), draw(gen, model, 1, size)
    training = answer.MasterWeights(model, make)
    give(model, drawn[0])
    training.step(scale)
    expect_follows(training, model, starts, make, drawn, f"step({scale:g}) in float16", scale)


def test_zero_grad(answer, gen):
    """After zero_grad a backward begins from nothing."""
    model = network(gen)
    training = answer.MasterWeights(model, MAKERS["SGD"])
    (grads,) = draw(gen, model, 1)
    give(model, grads)
    training.step()
    training.zero_grad()
    model[2](model[0](torch.ones(1, 3).bfloat16())).sum().backward()
    wanted = torch.ones(2).bfloat16()
    suspects = {"the model's own gradients are not cleared": lambda: grads[-1] + 1}
    call = "`.grad` of a bias after zero_grad() and a backward"
    expect_equal(model[2].bias.grad, wanted, call, suspects=suspects)


@pytest.mark.parametrize("kind", ["SGD with momentum", "AdamW"])
def test_goes_on_as_if_it_had_not_stopped(answer, gen, kind):
    """A state dict that is loaded into a new model brings it there, and the next steps are the same."""
    model, fresh, make = network(gen), network(gen), MAKERS[kind]
    training, resumed = answer.MasterWeights(model, make), answer.MasterWeights(fresh, make)
    for grads in draw(gen, model, 2):
        give(model, grads)
        training.step()
    fresh_ones = [p.detach().clone() for p in fresh.parameters()]
    resumed.load_state_dict(copy.deepcopy(training.state_dict()))
    starts = [m.detach().clone() for m in training.masters]
    for p, right, was in zip(fresh.parameters(), model.parameters(), fresh_ones, strict=True):
        suspects = {"the masters are loaded, and the model stays as it was": lambda was=was: was}
        call = "a parameter of the new model after load_state_dict"
        expect_equal(p.detach(), right.detach(), call, suspects=suspects)
    (grads,) = draw(gen, model, 1)
    for net, run in ((model, training), (fresh, resumed)):
        give(net, grads)
        run.step()
    for index, (mine, right) in enumerate(zip(resumed.masters, training.masters, strict=True)):
        suspects = {
            "the optimizer's state is lost": lambda index=index: by_hand(starts, make, [grads])[index],
            "the master did not move": lambda index=index: starts[index],
        }
        call = f"masters[{index}] of the run that goes on, after a step with {kind}"
        expect_close(mine.detach(), right.detach(), call, ulps=16, scale=2.0, suspects=suspects)
    for p, right in zip(fresh.parameters(), resumed.masters, strict=True):
        expect_equal(p.detach(), right.detach().to(p.dtype), "a parameter of the run that goes on")


@pytest.mark.fine
def test_frozen_parameters(answer, gen):
    """A frozen parameter has no master, and stays as it is."""
    model = network(gen)
    model[0].bias.requires_grad_(False)
    before = model[0].bias.detach().clone()
    training = answer.MasterWeights(model, MAKERS["SGD"])
    expect_equal(len(training.masters), 5, "the number of masters of 5 parameters and a frozen one")
    give(model, draw(gen, model, 1)[0])
    training.step()
    expect_equal(model[0].bias.detach(), before, "a frozen parameter after step()")


@pytest.mark.fine
def test_own_memory(answer, gen):
    """The master of a float32 parameter has memory of its own."""
    model = network(gen, torch.float32)
    training = answer.MasterWeights(model, MAKERS["SGD"])
    for master, p in zip(training.masters, model.parameters(), strict=True):
        expect_that(not shares_storage(master, p), "the master of a float32 parameter shares its memory")


@pytest.mark.fine
def test_missing_gradients(answer, gen):
    """Where `.grad` is None after earlier steps, momentum and decay leave the parameter alone."""
    model = network(gen)
    training = answer.MasterWeights(model, MAKERS["SGD with momentum"])
    give(model, draw(gen, model, 1)[0])
    training.step()
    before = [m.detach().clone() for m in training.masters]
    training.zero_grad()
    left = [index for index, p in enumerate(model.parameters()) if p.grad is not None]
    expect_equal(left, [], "the parameters whose `.grad` is not None after zero_grad()")
    training.step()
    for index, (master, was) in enumerate(zip(training.masters, before, strict=True)):
        expect_equal(master.detach(), was, f"masters[{index}] after a step in which `.grad` is None")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_gradients_stay(answer, gen, dtype):
    """step leaves the model's gradients, also where a hook clips those of the masters."""
    model = network(gen, dtype)
    training = answer.MasterWeights(model, MAKERS["SGD"])

    def clip(*_):
        nn.utils.clip_grad_norm_(training.masters, 1e-3)

    training.optimizer.register_step_pre_hook(clip)
    (grads,) = draw(gen, model, 1)
    give(model, grads)
    training.step(4.0)
    for index, (p, was) in enumerate(zip(model.parameters(), grads, strict=True)):
        expect_that(p.grad is not None, f"the gradient of parameter {index} is None after step(4.0)")
        expect_equal(p.grad, was, f"the gradient of parameter {index} in {dtype} after step(4.0)")


@pytest.mark.fine
def test_same_parameters(answer, gen):
    """Parameters stay the same objects, in their memory."""
    model = network(gen)
    params = list(model.parameters())
    places = [p.data_ptr() for p in params]
    training = answer.MasterWeights(model, MAKERS["AdamW"])
    give(model, draw(gen, model, 1)[0])
    training.step()
    training.load_state_dict(copy.deepcopy(training.state_dict()))
    for p, now, place in zip(params, model.parameters(), places, strict=True):
        same = p is now and p.data_ptr() == place
        told = "a parameter is another object, or lies in other memory, after a step or after loading"
        expect_that(same, told, wanted="new values in the memory that it had")


@pytest.mark.fine
def test_state_dict(answer, gen):
    """A state dict has two entries, and torch.load reads it safely."""
    model = network(gen)
    training = answer.MasterWeights(model, MAKERS["AdamW"])
    give(model, draw(gen, model, 1)[0])
    training.step()
    state, file = training.state_dict(), io.BytesIO()
    expect_equal(sorted(state), ["masters", "optimizer"], "the keys of state_dict()")
    torch.save(state, file)
    file.seek(0)
    saved = torch.load(file, weights_only=True)
    for value, master in zip(saved["masters"], training.masters, strict=True):
        expect_equal(value.detach(), master.detach(), "a master in the state dict")


@pytest.mark.fine
@pytest.mark.parametrize("kind", ["SGD with momentum", "AdamW"])
def test_loading_copies(answer, gen, kind):
    """Training on does not change the dict that was loaded: neither masters nor the optimizer's state."""
    model = network(gen)
    training = answer.MasterWeights(model, MAKERS[kind])
    grads, more = draw(gen, model, 2)
    give(model, grads)
    training.step()
    loaded = copy.deepcopy(training.state_dict())
    before = copy.deepcopy(loaded)
    training.load_state_dict(loaded)
    give(model, more)
    training.step()
    for value, was in zip(loaded["masters"], before["masters"], strict=True):
        expect_equal(value.detach(), was.detach(), "a master in the dict that was loaded, after a step")
    for index, state in before["optimizer"]["state"].items():
        for name, was in state.items():
            yours = loaded["optimizer"]["state"][index][name]
            same = torch.equal(torch.as_tensor(yours), torch.as_tensor(was))
            told = f"the {name!r} in the optimizer's state that was loaded is changed by a step with {kind}"
            likely = "Optimizer.load_state_dict keeps the tensors that it is given, and steps in their memory"
            expect_that(same, told, likely=likely)


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """On another device masters are there too, nothing is copied from or to the host, nobody waits."""
    model, make = network(gen), MAKERS["SGD"]
    starts, drawn = copy.deepcopy(list(model.parameters())), draw(gen, model, 1)
    model = model.to(device)
    training = answer.MasterWeights(model, make)
    expect_that(all(is_simulated(m) for m in training.masters), "a master is not on the model's device")
    give(model, drawn[0])
    with count_traffic() as traffic:
        training.step(8.0)
    expect_no_traffic(traffic, "step(8.0)", waits=True)
    expect_follows(training, model, starts, make, drawn, "step(8.0) on another device", 8.0)


def oracle(answer, gen):
    def trained(gen, kind, dtype, scale=1.0, steps=3, loads=False):
        """The masters and the model's parameters after some steps."""
        net = network(gen, dtype)
        training = answer.MasterWeights(net, MAKERS[kind])
        for number, grads in enumerate(draw(gen, net, steps)):
            if loads and number == 2:
                state, net = copy.deepcopy(training.state_dict()), network(gen, dtype)
                training = answer.MasterWeights(net, MAKERS[kind])
                training.load_state_dict(state)
            give(net, grads)
            training.step(scale)
        return [m.detach() for m in training.masters], [p.detach() for p in net.parameters()]

    return {
        "the masters after a step of SGD in bfloat16": lambda gen: trained(
            gen, "SGD", torch.bfloat16, steps=1
        )[0],
        "the model after a step of SGD in bfloat16": lambda gen: trained(gen, "SGD", torch.bfloat16, steps=1)[
            1
        ],
        "the masters after three steps of AdamW in bfloat16": lambda gen: trained(
            gen, "AdamW", torch.bfloat16
        )[0],
        "the model after three steps of AdamW in bfloat16": lambda gen: trained(gen, "AdamW", torch.bfloat16)[
            1
        ],
        "three steps of SGD in float16, with a loss scale": lambda gen: trained(
            gen, "SGD", torch.float16, 256.0
        ),
        "three steps of SGD with momentum, loaded after two": lambda gen: trained(
            gen, "SGD with momentum", torch.bfloat16, loads=True
        ),
    }
