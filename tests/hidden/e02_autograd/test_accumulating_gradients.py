"""What grades batch_gradients: each batch alone, later changes; no trace in `.grad`, unused parameters."""

from itertools import accumulate

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_that, unchanged
from grader.checks.contract import Contract, given, modes, values
from grader.checks.devices import on_host
from grader.checks.registered import randomize

CALL = "batch_gradients(model, loss_fn, batches)"


def batches_of(gen, *sizes, model=None, loss_fn=F.mse_loss, grad=None):
    """A model with 3 features, 4 hidden units and 2 outputs, or another one, and batches of these sizes."""
    model = model or nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    randomize(model, gen)
    for p in model.parameters():
        p.grad = None if grad is None else torch.full_like(p, grad)
    batches = [
        (torch.randn(n, 3, generator=gen), torch.randn(n, 2, generator=gen)) for n in sizes or (5, 2, 4)
    ]
    return given(model, loss_fn, batches)


class TwoHeads(nn.Module):
    """Batches of even and odd size have a head each."""

    def __init__(self):
        super().__init__()
        self.trunk, self.even, self.odd = nn.Linear(3, 3), nn.Linear(3, 2), nn.Linear(3, 2)
        self.gain = nn.Parameter(torch.tensor(1.5))  # of the even head

    def forward(self, x):
        h = self.trunk(x).tanh()
        return self.odd(h) if len(x) % 2 else self.gain * self.even(h)


def two_heads(gen):
    """Batches that use one head each, and a frozen parameter."""
    model = TwoHeads()
    model.trunk.bias.requires_grad_(False)
    return batches_of(gen, 3, 4, 5, model=model)


def tied(gen):
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3), nn.Flatten(), nn.Linear(3, 2))
    model[2].weight = model[0].weight
    return batches_of(gen, model=model)


def exact(model, loss_fn, batches):
    """Each batch by itself, with nothing in `.grad`."""
    found = []
    for inputs, targets in batches:
        trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
        loss = loss_fn(model(inputs), targets)
        gradients = torch.autograd.grad(loss, trainable.values(), allow_unused=True)
        pairs = zip(trainable.items(), gradients, strict=True)
        found.append({name: torch.zeros_like(p) if g is None else g.detach() for (name, p), g in pairs})
    return found


def mistaken(change):
    """What `change` makes of the gradients of all batches, parameter by parameter."""

    def gradients(*call):
        found = exact(*call)
        changed = {name: list(change([one[name] for one in found])) for name in found[0]}
        return [{name: those[place] for name, those in changed.items()} for place in range(len(found))]

    return gradients


contract = Contract(
    CALL,
    reference=exact,
    inputs=lambda gen: {
        "three batches": batches_of(gen),
        "a single batch": batches_of(gen, 6),
        "two batches, with numbers in `.grad`": batches_of(gen, 3, 4, grad=10.0),
    },
    scale=10.0,
    suspects={
        "the gradients of this batch and of those before it are added up": mistaken(accumulate),
        "the gradients of all batches are added up": mistaken(lambda those: [sum(those)] * len(those)),
        "it is divided by its length: the gradient itself is asked for": mistaken(
            lambda those: [g / g.norm() for g in those]
        ),
        "the gradient of the last batch: a later one is written over it": mistaken(
            lambda those: those[-1:] * len(those)
        ),
    },
    job=[values(title="The gradient of a batch owes nothing to the batches before it, nor to `.grad`.")],
    fine=[
        values(
            inputs=lambda gen: {"frozen and unused parameters": two_heads(gen)},
            name="frozen_and_unused_parameters",
            title="Frozen parameters do not appear, and those that a batch does not use have zeros.",
        ),
        values(
            inputs=lambda gen: {"tied weights": tied(gen)},
            name="tied_parameters",
            title="A parameter that two layers share appears once, with the gradient through both.",
        ),
        modes(inputs=lambda gen: {"three batches": batches_of(gen)}, title="The model keeps its modes."),
    ],
)


def test_gradients_do_not_change_later(answer, gen):
    """What was reported stays the same, whatever happens afterwards to `.grad` or in further calls."""
    model, loss_fn, batches = batches_of(gen).args
    found = answer.batch_gradients(model, loss_fn, batches)
    before = [{name: g.clone() for name, g in gradients.items()} for gradients in found]
    answer.batch_gradients(model, loss_fn, batches[:1])
    for p in model.parameters():
        if p.grad is not None:
            p.grad.zero_()
    loss_fn(model(batches[0][0]), batches[0][1]).backward()
    torch.optim.SGD(model.parameters(), lr=0.5).step()
    expect_equal(found, before, f"{CALL}, looked at again after a training step,")


@pytest.mark.fine
def test_grad_is_put_back(answer, gen):
    """The `.grad` of each parameter is the tensor that it was, or None: training goes on as before."""
    model, loss_fn, batches = batches_of(gen).args
    for number, p in enumerate(model.parameters()):
        p.grad = None if number == 1 else torch.full_like(p, 10.0 + number)
    old = {name: None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()}
    held = {name: p.grad for name, p in model.named_parameters()}
    answer.batch_gradients(model, loss_fn, batches)
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
    temperature = torch.tensor(1.5, requires_grad=True)
    model, loss_fn, batches = batches_of(gen, loss_fn=lambda p, t: F.mse_loss(p / temperature, t)).args
    batches[0][0].requires_grad_()
    with unchanged(CALL, inputs=batches[0][0], temperature=temperature):
        answer.batch_gradients(model, loss_fn, batches)
    expect_that(temperature.grad is None, f"a temperature in loss_fn has a `.grad` after {CALL}")
    expect_that(batches[0][0].grad is None, f"the inputs have a `.grad` after {CALL}")


@pytest.mark.fine
def test_nothing_is_trained(answer, gen):
    """The parameters keep their values, and the gradients carry no graph, zeros included."""
    model, loss_fn, batches = two_heads(gen).args
    parameters = {name.replace(".", "_"): p for name, p in model.named_parameters()}
    with unchanged(CALL, **parameters):
        found = answer.batch_gradients(model, loss_fn, batches)
    flags = sorted({name for one in found for name, g in one.items() if g.requires_grad})
    expect_equal(flags, [], f"the gradients from {CALL} whose requires_grad is True")


@pytest.mark.fine
def test_model_runs_once_for_each_batch(answer, gen):
    """The model runs once for each batch, in order, and the batches may come from a generator."""
    (model, loss_fn, batches), sizes = batches_of(gen).args, []
    model.register_forward_pre_hook(
        lambda module, args: sizes.append(len(args[0])) if module is model else None
    )
    answer.batch_gradients(model, loss_fn, (batch for batch in batches))
    expect_equal(sizes, [5, 2, 4], f"the sizes of the batches that the model itself, no copy, sees in {CALL}")
    expect_equal(answer.batch_gradients(model, loss_fn, []), [], f"{CALL} without batches")


@pytest.mark.fine
def test_on_another_device(answer, device, gen):
    """With model and batches on another device the gradients come from there, zeros too."""
    model, loss_fn, batches = batches_of(gen).args
    model.register_parameter("spare", nn.Parameter(torch.ones(2)))
    wanted = exact(model, loss_fn, batches)
    model.to(device)
    there = [(inputs.to(device), targets.to(device)) for inputs, targets in batches]
    for gradients, right in zip(answer.batch_gradients(model, loss_fn, there), wanted, strict=True):
        where = {name: str(g.device) for name, g in gradients.items()}
        expect_equal(where, dict.fromkeys(where, str(device)), f"the devices in {CALL}")
        for name, g in gradients.items():
            expect_close(on_host(g), right[name], f"the gradient of {name} on another device", scale=10.0)
