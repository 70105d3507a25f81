"""What grades batch_gradients: each batch alone, later changes; no trace in `.grad`, unused parameters."""

import copy
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_that, modes_kept, unchanged
from grader.checks.devices import on_host

CALL = "batch_gradients(model, loss_fn, batches)"
SHORT = "batch_gradients(…)"  # leaves room for what comes behind


def network(gen, dtype=torch.float32):
    """3 features, 4 hidden units, 2 outputs."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).to(dtype)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    return model


def draw(gen, *sizes, dtype=torch.float32):
    """Batches of these sizes."""
    randn = lambda *shape: torch.randn(shape, generator=gen, dtype=torch.float64).to(dtype)  # noqa: E731
    return [(randn(n, 3), randn(n, 2)) for n in sizes or (5, 2, 4)]


def exact(model, loss_fn, batches):
    """Each batch on a fresh copy of the model."""
    found = []
    for inputs, targets in batches:
        twin = copy.deepcopy(model)
        trainable = {name: p for name, p in twin.named_parameters() if p.requires_grad}
        loss = loss_fn(twin(inputs), targets)
        gradients = torch.autograd.grad(loss, trainable.values(), allow_unused=True)
        pairs = zip(trainable.items(), gradients, strict=True)
        found.append({name: torch.zeros_like(p) if g is None else g.detach() for (name, p), g in pairs})
    return found


def expect_all(found, wanted, when=CALL, dtype=None):
    expect_equal(len(found), len(wanted), f"the number of dicts from {when}")
    for place, (yours, right) in enumerate(zip(found, wanted, strict=True)):
        expect_equal(sorted(yours), sorted(right), f"the names of batch {place} in {when}")
        for name, gradient in right.items():
            gradient = gradient.to(dtype or gradient.dtype)
            scale = float(gradient.abs().max()) + 1.0  # what cancels in a sum is rounded before
            all_of_it = [one[name].to(gradient.dtype) for one in wanted]
            suspects = {
                "the gradients of this batch and of those before it are added up": partial(
                    sum, all_of_it[: place + 1]
                ),
                "the gradients of all batches are added up": partial(sum, all_of_it),
                "the gradient of the last batch: a later one is written over it": all_of_it[-1].clone,
            }
            call = f'["{name}"] of batch {place} in {when.replace(CALL, SHORT)}'
            expect_close(yours[name], gradient, call, scale=scale, suspects=suspects)


def test_each_batch_alone(answer, gen):
    """The gradient of a batch owes nothing to the batches before it, nor to an earlier call."""
    model, batches = network(gen), draw(gen)
    wanted = exact(model, F.mse_loss, batches)
    expect_all(answer.batch_gradients(model, F.mse_loss, batches), wanted)
    backwards = answer.batch_gradients(model, F.mse_loss, batches[::-1])
    expect_all(backwards, wanted[::-1], f"a second call of {CALL}")


def test_old_gradients(answer, gen):
    """What lies in `.grad` before has no influence."""
    model, batches = network(gen), draw(gen)
    wanted = exact(model, F.mse_loss, batches)
    for p in model.parameters():
        p.grad = torch.full_like(p, 10.0)
    found = answer.batch_gradients(model, F.mse_loss, batches)
    expect_all(found, wanted, f"{CALL} with old gradients")


def test_gradients_do_not_change_later(answer, gen):
    """What was reported stays the same, whatever happens afterwards to `.grad` or in further calls."""
    model, batches = network(gen), draw(gen)
    wanted = exact(model, F.mse_loss, batches)
    found = answer.batch_gradients(model, F.mse_loss, batches)
    answer.batch_gradients(model, F.mse_loss, batches[:1])
    for p in model.parameters():
        if p.grad is not None:
            p.grad.zero_()
    F.mse_loss(model(batches[0][0]), batches[0][1]).backward()
    torch.optim.SGD(model.parameters(), lr=0.5).step()
    expect_all(found, wanted, f"{CALL}, looked at again after a training step,")


@pytest.mark.fine
def test_grad_is_put_back(answer, gen):
    """The `.grad` of each parameter is the tensor that it was, or None: training goes on as before."""
    model, batches = network(gen), draw(gen)
    for number, p in enumerate(model.parameters()):
        p.grad = None if number == 1 else torch.full_like(p, 10.0 + number)
    old = {name: None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()}
    held = {name: p.grad for name, p in model.named_parameters()}
    answer.batch_gradients(model, F.mse_loss, batches)
    for name, p in model.named_parameters():
        if old[name] is None:
            expect_that(p.grad is None, f"{name}, which had no `.grad`, has one after {CALL}", yours=p.grad)
            continue
        expect_that(p.grad is not None, f"{name} has lost its `.grad` in {CALL}")
        expect_equal(p.grad, old[name], f"the `.grad` of {name} after {CALL}")
        expect_that(
            p.grad is held[name],
            f"the `.grad` of {name} is another tensor after {CALL}",
            yours="one of the same numbers",
            wanted="the tensor of before: an optimizer or a buffer of all gradients may hold it",
        )


@pytest.mark.fine
def test_tensors_outside_of_the_model(answer, gen):
    """Inputs that require gradients, and a temperature in the loss, get no `.grad` either."""
    model, batches = network(gen), draw(gen)
    temperature = torch.tensor(1.5, requires_grad=True)
    batches[0][0].requires_grad_()
    loss_fn = lambda p, t: F.mse_loss(p / temperature, t)  # noqa: E731
    wanted = exact(model, loss_fn, batches)
    with unchanged(CALL, inputs=batches[0][0], temperature=temperature):
        found = answer.batch_gradients(model, loss_fn, batches)
    expect_that(temperature.grad is None, f"a temperature in loss_fn has a `.grad` after {CALL}")
    expect_that(batches[0][0].grad is None, f"the inputs have a `.grad` after {CALL}")
    expect_all(found, wanted, f"{CALL} with a temperature")


class TwoHeads(nn.Module):
    """Batches of even and odd size have a head each."""

    def __init__(self):
        super().__init__()
        self.trunk, self.even, self.odd = nn.Linear(3, 3), nn.Linear(3, 2), nn.Linear(3, 2)
        self.gain = nn.Parameter(torch.tensor(1.5))  # of the even head

    def forward(self, x):
        h = self.trunk(x).tanh()
        return self.odd(h) if len(x) % 2 else self.gain * self.even(h)


@pytest.mark.fine
def test_frozen_and_unused_parameters(answer, gen):
    """Frozen parameters do not appear, and those that a batch does not use have zeros."""
    model, batches = TwoHeads(), draw(gen, 3, 4, 5)
    with torch.no_grad():
        model.trunk.weight.copy_(torch.randn(3, 3, generator=gen))
    model.trunk.bias.requires_grad_(False)
    wanted = exact(model, F.mse_loss, batches)
    found = answer.batch_gradients(model, F.mse_loss, batches)
    expect_all(found, wanted, f"{CALL} with frozen and unused parameters")
    flags = {name: g.requires_grad for one in found for name, g in one.items() if g.requires_grad}
    expect_equal(flags, {}, "which gradients require gradients, unused parameters included")


@pytest.mark.fine
def test_tied_parameters(answer, gen):
    """A parameter that two layers share appears once, with the gradient through both."""
    model, batches = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3)), draw(gen)
    with torch.no_grad():
        model[0].weight.copy_(torch.randn(3, 3, generator=gen))
    model[2].weight = model[0].weight
    batches = [(inputs, inputs.flip(1)) for inputs, _ in batches]
    wanted = exact(model, F.mse_loss, batches)
    expect_all(answer.batch_gradients(model, F.mse_loss, batches), wanted, f"{CALL} with tied weights")


@pytest.mark.fine
def test_nothing_is_trained(answer, gen):
    """The parameters keep their values, the model its mode, and the gradients carry no graph."""
    model, batches = network(gen), draw(gen)
    model[1].eval()
    parameters = {name.replace(".", "_"): p for name, p in model.named_parameters()}
    with unchanged(CALL, **parameters), modes_kept(CALL, model):
        found = answer.batch_gradients(model, F.mse_loss, batches)
    flags = {name: g.requires_grad for name, g in found[0].items()}
    expect_equal(flags, dict.fromkeys(flags, False), f"requires_grad of the gradients from {CALL}")


@pytest.mark.fine
def test_model_runs_once_for_each_batch(answer, gen):
    """The model runs once for each batch, in order, and the batches may come from a generator."""
    model, batches, sizes, modes = network(gen), draw(gen), [], []
    wanted = exact(model, F.mse_loss, batches)

    def note(module, args):
        if module is model:
            sizes.append(len(args[0]))
            modes.append(module.training)

    model.register_forward_pre_hook(note)
    model.eval()
    found = answer.batch_gradients(model, F.mse_loss, (batch for batch in batches))
    expect_equal(sizes, [5, 2, 4], f"the sizes of the batches that the model itself, no copy, sees in {CALL}")
    expect_equal(modes, [False] * 3, f"the mode that the model runs in, with each batch of {CALL}")
    expect_all(found, wanted, f"{CALL} with a generator")
    expect_equal(answer.batch_gradients(model, F.mse_loss, []), [], f"{CALL} without batches")


@pytest.mark.fine
def test_on_another_device(answer, device, gen):
    """With model and batches on another device the gradients come from there, zeros too."""
    model, batches = network(gen), draw(gen)
    model.register_parameter("spare", nn.Parameter(torch.ones(2)))
    wanted = exact(model, F.mse_loss, batches)
    model.to(device)
    there = [(inputs.to(device), targets.to(device)) for inputs, targets in batches]
    found = answer.batch_gradients(model, F.mse_loss, there)
    for gradients in found:
        where = {name: str(g.device) for name, g in gradients.items()}
        expect_equal(where, dict.fromkeys(where, str(device)), f"the devices in {CALL}")
    found = [{name: on_host(g) for name, g in gradients.items()} for gradients in found]
    expect_all(found, wanted, f"{CALL} on another device")


def oracle(answer, gen):
    model, batches = network(gen), draw(gen)
    for p in model.parameters():
        p.grad = torch.ones_like(p)

    def told():
        found = answer.batch_gradients(model, F.mse_loss, batches)
        return [[gradients[name].clone() for name in sorted(gradients)] for gradients in found]

    first, second = told(), told()
    return {
        "the first batch": first[0],
        "the batches after it": first[1:],
        "all batches in a second call": second,
    }
