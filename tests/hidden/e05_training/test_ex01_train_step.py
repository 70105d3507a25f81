"""What grades train_step: weights after several steps, gradients, what runs, what is kept, the device."""

import contextlib
import copy
import gc
import io
import math
import weakref

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import (
    expect_close,
    expect_equal,
    expect_gradient,
    expect_that,
    expect_view,
    global_rng_untouched,
    modes_kept,
    unchanged,
)
from grader.checks.devices import count_traffic
from grader.checks.registered import expect_weights, randomize

CALL = "train_step(model, loss_fn, optimizer, inputs, targets)"

OPTIMIZERS = {
    "SGD": lambda groups: torch.optim.SGD(groups, lr=0.1),
    "SGD with momentum": lambda groups: torch.optim.SGD(groups, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": lambda groups: torch.optim.AdamW(groups, lr=0.05, weight_decay=0.1),
}


class Recorded(nn.Module):
    """Remembers what it was given and what it gave."""

    def __init__(self, fn):
        super().__init__()
        self.fn, self.calls = fn, []

    def forward(self, *args):
        self.calls.append(args)
        return self.fn(*args)


def network(gen, dtype=torch.float32):
    """3 features, 4 hidden units, 2 outputs."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).to(dtype)
    randomize(model, gen)
    return model


def batches(gen, count=3, size=5, dtype=torch.float32):
    return [
        (torch.randn(size, 3, generator=gen, dtype=dtype), torch.randn(size, 2, generator=gen, dtype=dtype))
        for _ in range(count)
    ]


def in_groups(model):
    """The first layer learns faster than the last."""
    first, last = model[0], model[2]
    return [{"params": list(first.parameters()), "lr": 0.2}, {"params": list(last.parameters())}]


def steps_written_out(model, optimizer, steps):
    """The losses of a training loop without any helper."""
    losses = []
    for inputs, targets in steps:
        for p in model.parameters():
            p.grad = None
        loss = F.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def expect_loss(yours, wanted, of, rel_tol=1e-5):
    expect_equal(type(yours).__name__, "float", f"the type of {of}")
    close = math.isclose(yours, wanted, rel_tol=rel_tol)
    expect_that(
        close, f"wrong loss from {of}", yours=f"{yours:.12g}", wanted=f"{wanted:.12g}, before the update"
    )


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_several_steps(answer, gen, kind):
    """Over several batches, losses and weights are those of a loop that is written out."""
    # in float64, because AdamW's division enlarges the rounding of small gradients
    model, steps = network(gen, torch.float64), batches(gen, dtype=torch.float64)
    twin = copy.deepcopy(model)
    wanted = steps_written_out(twin, OPTIMIZERS[kind](in_groups(twin)), steps)
    optimizer = OPTIMIZERS[kind](in_groups(model))
    for number, ((inputs, targets), loss) in enumerate(zip(steps, wanted, strict=True), start=1):
        yours = answer.train_step(model, F.mse_loss, optimizer, inputs, targets)
        expect_loss(yours, loss, f"step {number} with {kind}, in float64", rel_tol=1e-12)
    expect_weights(model, twin, f"three steps of {kind}", ulps=1000)
    inputs, targets = steps[0]
    small = lambda predictions, targets: F.mse_loss(predictions, targets) * 1e-15  # noqa: E731
    wanted = small(model(inputs), targets).item()
    yours = answer.train_step(model, small, optimizer, inputs, targets)
    expect_loss(yours, wanted, f"a step with a loss of {wanted:.1g}", rel_tol=1e-12)


def test_gradients_stay(answer, gen):
    """Afterwards `.grad` holds the gradients of this batch alone, also for parameters outside the model."""
    model, temperature = network(gen), nn.Parameter(torch.tensor(1.5))
    (inputs, targets), _ = batches(gen, 2)

    def loss_fn(predictions, targets):
        return F.mse_loss(predictions / temperature, targets)

    parameters = [*model.parameters(), temperature]
    wanted = torch.autograd.grad(loss_fn(model(inputs), targets), parameters)
    for p in parameters:
        p.grad = torch.full_like(p, 10.0)
    moved = temperature.detach() - 0.1 * wanted[-1]
    answer.train_step(model, loss_fn, torch.optim.SGD(parameters, lr=0.1), inputs, targets)
    names = [*dict(model.named_parameters()), "temperature, which loss_fn holds"]
    for name, p, right in zip(names, parameters, wanted, strict=True):
        lost = f"`.grad` of {name} is None after {CALL}"
        expect_that(p.grad is not None, lost, likely="it was cleared after the step, or its graph is cut")
        expect_gradient(p.grad, right, f"{name} (in `.grad` afterwards)", scale=float(right.abs().max()) + 1)
    expect_close(temperature.detach(), moved, "the temperature in loss_fn afterwards")


def test_inputs_and_targets_that_learn(answer, gen):
    """Inputs and targets that the optimizer holds get their gradients, and move; nothing is copied."""
    model, codes = network(gen), torch.randn(3, 5, generator=gen).t().requires_grad_()
    centres = torch.randn(2, 5, generator=gen).t().requires_grad_()
    learned = [codes, centres]
    wanted = torch.autograd.grad(F.mse_loss(model(codes), centres), learned)
    moved = [x.detach() - 0.1 * g for x, g in zip(learned, wanted, strict=True)]
    model, loss_fn = Recorded(model), Recorded(F.mse_loss)
    answer.train_step(model, loss_fn, OPTIMIZERS["SGD"]([*model.parameters(), *learned]), codes, centres)
    for name, x, g, right in zip(("inputs", "targets"), learned, wanted, moved, strict=True):
        expect_gradient(x.grad, g, f"{name} that the optimizer holds")
        expect_close(x.detach(), right, f"{name} that the optimizer holds, after {CALL}")
    expect_view(model.calls[0][0], codes, "train_step(…), of the inputs that it passes on,")
    expect_view(loss_fn.calls[0][1], centres, "train_step(…), of the targets that it passes on,")


@pytest.mark.parametrize("how", ["unused", "frozen"])
def test_parameters_without_gradient(answer, gen, how):
    """A parameter that the loss does not depend on gets no gradient, and no momentum moves it."""
    model, steps = network(gen), batches(gen, 2)
    extra = nn.Linear(3, 2)
    used = [True]

    def loss_fn(predictions, targets):
        if used[0]:
            predictions = predictions + extra(torch.ones(3))
        return F.mse_loss(predictions, targets)

    optimizer = OPTIMIZERS["AdamW"]([*model.parameters(), *extra.parameters()])
    answer.train_step(model, loss_fn, optimizer, *steps[0])  # builds up momentum
    without = [extra.weight]
    if how == "unused":
        used[0] = False
    else:
        without.append(model[2].weight)
        for p in without:
            p.requires_grad_(False)
    before, others = [p.detach().clone() for p in without], model[0].weight.detach().clone()
    answer.train_step(model, loss_fn, optimizer, *steps[1])
    for p, was in zip(without, before, strict=True):
        expect_that(p.grad is None, f"a parameter that is {how} has a gradient", yours=p.grad)
        expect_equal(p.detach(), was, f"a parameter that is {how}, after {CALL}")
    expect_that(not torch.equal(model[0].weight, others), "the other parameters do not move any more")


def test_called_once(answer, gen):
    """Model, loss and optimizer run once each, and the hooks of the model see it."""
    model, (inputs, targets) = network(gen), batches(gen, 1)[0]
    loss_fn, optimizer = Recorded(F.mse_loss), OPTIMIZERS["SGD"](model.parameters())
    runs, inside, steps = [], [], []
    model.register_forward_hook(lambda *_: runs.append(1))
    model[0].register_forward_hook(lambda *_: inside.append(1))
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    answer.train_step(model, loss_fn, optimizer, inputs, targets)
    expect_equal(len(inside), 1, "the number of times that the first layer runs in train_step(…)")
    expect_equal(len(runs), 1, "the number of times that the model's hook runs in train_step(…)")
    expect_equal(len(loss_fn.calls), 1, "the number of times that loss_fn runs in train_step(…)")
    expect_equal(len(steps), 1, "the number of times that optimizer.step runs in train_step(…)")


def test_passed_on_as_they_are(answer, gen):
    """Tokens, class numbers and whatever the model returns are passed on in their shape and dtype."""
    tokens, labels = torch.tensor([[3, 1, 4], [1, 5, 2]]), torch.tensor([1, 0])
    embedding, head = nn.Embedding(6, 4), nn.Linear(4, 2)
    model = Recorded(lambda x: (head(embedding(x).mean(1)), x))
    loss_fn = Recorded(lambda predictions, labels: F.cross_entropy(predictions[0], labels))
    optimizer = OPTIMIZERS["SGD"]([*embedding.parameters(), *head.parameters()])
    with unchanged(CALL, inputs=tokens, targets=labels):
        loss = answer.train_step(model, loss_fn, optimizer, tokens, labels)
    expect_equal(type(loss).__name__, "float", f"the type of {CALL} with class numbers")
    (seen,), (predictions, seen_labels) = model.calls[0], loss_fn.calls[0]
    expect_equal(seen, tokens, "what the model is given")
    expect_equal(predictions[1], tokens, "the second of the pair that the model returns")
    expect_equal(seen_labels, labels, "the targets that loss_fn is given")

    # a batch of one, of two rows, in float64
    rows = nn.Sequential(network(gen, torch.float64), nn.Linear(2, 1).double())
    inputs, targets = torch.randn(1, 2, 3, generator=gen).double(), torch.ones(1, 2, 1).double()
    loss_fn = Recorded(lambda p, t: (p - 2 * t).square().mean())
    with unchanged(CALL, inputs=inputs, targets=targets):
        answer.train_step(rows, loss_fn, OPTIMIZERS["SGD"](rows.parameters()), inputs, targets)
    predictions, seen_targets = loss_fn.calls[0]
    expect_equal(
        (predictions.shape, predictions.dtype),
        (torch.Size([1, 2, 1]), torch.float64),
        "predictions given to loss_fn",
    )
    expect_equal(seen_targets, targets, "the targets that loss_fn is given")


@pytest.mark.parametrize(
    ("given", "returned", "wanted", "dtype"),
    [
        ((5, 3), (5, 1), (5,), torch.float32),
        ((5, 3), (5,), (5, 1), torch.float64),
        ((1, 3), (1, 2), (2,), torch.int32),
        ((5,), (2, 5, 1), (2, 5), torch.bool),
        ((2, 1, 3), (2, 1, 1), (2, 1), torch.float16),
        ((5, 3), (5, 2), (5, 2), torch.int64),
    ],
    ids=["a column", "a row", "a batch of one", "one feature", "dims of one", "dtype alone"],
)
def test_shapes_and_dtypes_that_differ(answer, gen, given, returned, wanted, dtype):
    """Predictions and targets that differ in shape or dtype are loss_fn's business: they are not adapted."""
    weight = nn.Parameter(torch.randn(returned, generator=gen))
    kind = torch.bfloat16 if dtype == torch.float16 else torch.float32
    model = Recorded(lambda x: (weight * 2).to(kind))
    loss_fn = Recorded(lambda predictions, targets: predictions.mean())
    inputs, targets = torch.randn(given, generator=gen), torch.ones(wanted, dtype=dtype)
    answer.train_step(model, loss_fn, OPTIMIZERS["SGD"]([weight]), inputs, targets)
    (seen,), (predictions, seen_targets) = model.calls[0], loss_fn.calls[0]
    expect_equal(seen, inputs, "what the model is given")
    sizes = f"{tuple(predictions.shape)} in {predictions.dtype}"
    wanted = f"{tuple(returned)} in {kind}"
    expect_equal(sizes, wanted, "shape and dtype of the predictions given to loss_fn")
    expect_equal(seen_targets, targets, "the targets that loss_fn is given")


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_modes_are_the_callers(answer, training):
    """The model runs in the mode it is in, layer by layer, and keeps it."""
    norm = nn.BatchNorm1d(3)
    model = nn.Sequential(norm, nn.Linear(3, 2)).train(training)
    norm.train(not training)
    inputs, targets = torch.arange(12.0).view(4, 3), torch.zeros(4, 2)
    with modes_kept("train_step(…)", model):
        answer.train_step(model, F.mse_loss, OPTIMIZERS["SGD"](model.parameters()), inputs, targets)
    expect_that(model[1].bias.grad is not None, f"a model with {training = } gets no gradients")
    ran = int(norm.num_batches_tracked)
    expect_equal(ran, int(norm.training), "the batches that went into the batch norm's statistics")


def test_nothing_else_happens(answer, gen):
    """Large gradients are not clipped, a loss of NaN or inf stops nothing, and nothing is printed."""
    model, (inputs, targets) = network(gen), batches(gen, 1)[0]
    loss_fn = lambda p, t: 1e4 * F.mse_loss(p, t)  # noqa: E731
    (gradient,) = torch.autograd.grad(loss_fn(model(inputs), targets), [model[2].weight])
    wanted = model[2].weight.detach() - 0.1 * gradient
    optimizer = OPTIMIZERS["SGD"](model.parameters())
    with contextlib.redirect_stdout(io.StringIO()) as printed, global_rng_untouched(CALL):
        answer.train_step(model, loss_fn, optimizer, inputs, targets)
    expect_close(model[2].weight.detach(), wanted, "the last weight after a step with large gradients")
    expect_equal(printed.getvalue(), "", "what train_step(…) prints")

    for bad in (math.nan, math.inf):
        model, steps = network(gen), []
        optimizer = OPTIMIZERS["SGD"](model.parameters())
        optimizer.register_step_post_hook(lambda *_, steps=steps: steps.append(1))
        loss_fn = lambda p, t, bad=bad: (p * bad).square().sum()  # noqa: E731
        loss = answer.train_step(model, loss_fn, optimizer, inputs, targets)
        expect_equal(loss, bad, f"{CALL} where the loss is {bad}")
        expect_equal(len(steps), 1, f"the number of optimizer steps where the loss is {bad}")
        moved = model[2].bias.detach()
        expect_that(
            not moved.isfinite().any(), f"the gradients are mended where the loss is {bad}", yours=moved
        )


def test_graph_is_freed(answer, gen):
    """No activation outlives `backward`, and neither predictions nor loss outlive the call."""
    model, (inputs, targets) = network(gen), batches(gen, 1)[0]
    optimizer = OPTIMIZERS["AdamW"](model.parameters())
    saved, alive, results, memory = [], [], [], []

    class Kept:
        def __init__(self, tensor):
            self.tensor = tensor

    def pack(tensor):
        kept = Kept(tensor)
        saved.append(weakref.ref(kept))
        return kept

    def loss_fn(predictions, targets):
        loss = F.mse_loss(predictions, targets)
        results.extend((weakref.ref(predictions), weakref.ref(loss)))
        memory.extend(weakref.ref(tensor.untyped_storage()) for tensor in (predictions, loss))
        return loss

    optimizer.register_step_post_hook(lambda *_: alive.append(sum(ref() is not None for ref in saved)))
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor):
        answer.train_step(model, loss_fn, optimizer, inputs, targets)
    expect_equal(alive, [0], "the activations still held for backward when the optimizer has stepped")
    if any(ref() is not None for ref in [*results, *memory]):
        gc.collect()  # what only hangs in a reference cycle is not kept
    for name, ref in zip(("predictions are", "loss is"), results, strict=True):
        expect_that(ref() is None, f"the {name} still alive after train_step(…)")
    for name, ref in zip(("predictions is", "loss is"), memory, strict=True):
        expect_that(ref() is None, f"the memory of the {name} still held after train_step(…)")
    expect_that(
        all(p.grad is not None and not p.grad.requires_grad for p in model.parameters()),
        "the gradients carry a graph of their own",
    )


def test_devices_are_the_callers(answer, gen, device):
    """Inputs and targets stay on their devices, also where the model's parameters are on another one."""
    layer = nn.Linear(3, 2).to(device)
    model = Recorded(lambda x: layer(x.to(device)))
    model.layer = layer
    loss_fn = Recorded(lambda predictions, targets: predictions.square().mean())
    (inputs, targets), *_ = batches(gen, 1)
    for there in (False, True):
        given = targets.to(device) if there else targets
        answer.train_step(model, loss_fn, OPTIMIZERS["SGD"](layer.parameters()), inputs, given)
        expect_equal(
            str(model.calls[-1][0].device), "cpu", "the device of the inputs that the model is given"
        )
        seen = str(loss_fn.calls[-1][1].device)
        expect_equal(seen, str(given.device), "the device of the targets that loss_fn is given")


def test_on_a_device(answer, gen, device):
    """On another device the step has the same result there, and the host waits once: for the float."""
    model, steps = network(gen), batches(gen)
    twin = copy.deepcopy(model)
    wanted = steps_written_out(twin, OPTIMIZERS["SGD with momentum"](twin.parameters()), steps)
    model.to(device)
    optimizer = OPTIMIZERS["SGD with momentum"](model.parameters())
    there = [(inputs.to(device), targets.to(device)) for inputs, targets in steps]
    for (inputs, targets), loss in zip(there, wanted, strict=True):
        with count_traffic() as traffic:
            yours = answer.train_step(model, F.mse_loss, optimizer, inputs, targets)
        expect_loss(yours, loss, "train_step(…) on another device")
        expect_equal(traffic.syncs, 1, "the times that the host waits for the device in train_step(…)")
        expect_equal(traffic.to_device, 0, "the copies from the host to the device in train_step(…)")
    expect_weights(model, twin.to(device), "three steps on another device", ulps=1000)


def oracle(answer, gen):
    model = network(gen, torch.float64)
    results = []
    for kind in ("SGD with momentum", "AdamW"):
        optimizer = OPTIMIZERS[kind](in_groups(model))
        for inputs, targets in batches(gen, dtype=torch.float64):
            results.append(answer.train_step(model, F.mse_loss, optimizer, inputs, targets))
        results += [p.grad.clone() for p in model.parameters()]
        results += [p.detach().clone() for p in model.parameters()]
    return results
