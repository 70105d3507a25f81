"""What grades autocast_step: dtypes of the computation, losses and weights; own losses, devices, errors."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import (
    expect_close,
    expect_equal,
    expect_gradient,
    expect_number,
    expect_raises,
    expect_that,
    modes_kept,
    unchanged,
)
from grader.checks.cost.precision import compute_dtypes, expect_all_in, expect_products_in
from grader.checks.devices import count_traffic
from grader.checks.registered import randomize, state_of

CALL = "autocast_step(model, loss_fn, optimizer, inputs, targets)"
DTYPES = [torch.bfloat16, torch.float16]

MISTAKES = {
    "nothing is computed in 16 bits: autocast is off where the model runs": {"enabled": False},
    "the gradients of the batches before count as well: nothing clears them": {"clear": False},
    "loss_fn has predictions in 16 bits, and runs after the region: its result is rounded": {"widen": False},
    "the optimizer takes two steps in a call": {"times": 2},
}


def classifier(gen):
    """3 features, 8 hidden units, 4 classes."""
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4))
    randomize(model, gen)
    return model


def batch(gen, size=6):
    return torch.randn(size, 3, generator=gen), torch.randint(4, (size,), generator=gen)


def sgd(model, lr=0.1):
    return torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)


def written_out(model, steps, dtype, *, enabled=True, clear=True, widen=True, times=1):
    """The losses of a loop without any helper; or with a mistake."""
    optimizer, losses = sgd(model), []
    for inputs, targets in steps:
        for p in model.parameters() if clear else ():
            p.grad = None
        with torch.autocast("cpu", dtype=dtype, enabled=enabled):
            predictions = model(inputs)
        loss = F.cross_entropy(predictions.float() if widen else predictions, targets)
        loss.backward()
        for _ in range(times):
            optimizer.step()
        losses.append(loss.item())
    return losses


def own_loss(predictions, targets):
    """A cross-entropy by hand, with a penalty that holds a product of matrices."""
    picked = predictions.log_softmax(1).gather(1, targets.unsqueeze(1))
    return (predictions @ predictions.t()).mean() / 100 - picked.mean()


@pytest.mark.parametrize("dtype", [None, *DTYPES], ids=str)
def test_forward_in_dtype(answer, gen, dtype):
    """The products of the model are computed in dtype, by default in bfloat16."""
    model, (inputs, targets) = classifier(gen), batch(gen)
    chosen = {} if dtype is None else {"dtype": dtype}
    with compute_dtypes() as seen:
        answer.autocast_step(model, F.cross_entropy, sgd(model), inputs, targets, **chosen)
    expect_products_in(seen, dtype or torch.bfloat16, "the model's layers")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_several_steps(answer, gen, dtype):
    """Over several batches, losses and weights are those of a loop that is written out."""
    model, steps = classifier(gen), [batch(gen) for _ in range(3)]
    start, optimizer = copy.deepcopy(model), sgd(model)

    def after(number, **mistake):
        twin = copy.deepcopy(start)
        return written_out(twin, steps[:number], dtype, **mistake)[-1], state_of(twin)

    for number, (inputs, targets) in enumerate(steps, start=1):
        before, (loss, wanted) = state_of(model), after(number)
        yours = answer.autocast_step(model, F.cross_entropy, optimizer, inputs, targets, dtype)
        told = {name: lambda m=m, n=number: after(n, **m)[0] for name, m in MISTAKES.items()}
        told["this is the loss after the step"] = lambda x=inputs, y=targets: F.cross_entropy(
            torch.autocast("cpu", dtype)(model)(x).float(), y
        ).item()
        expect_number(yours, loss, f"loss from step {number} in {dtype}", rtol=1e-4, suspects=told)
        for name, right in wanted.items():
            told = {
                text: lambda m=m, n=number, name=name: after(n, **m)[1][name] for text, m in MISTAKES.items()
            }
            call, mine = f"{name} after step {number} in {dtype}", state_of(model)[name]
            expect_close(mine, right, call, ulps=1e3, scale=1.0, before=before[name], suspects=told)


def test_weights_stay_in_float32(answer, gen):
    """Weights, gradients and momentum are float32, and an update too small for bfloat16 is kept."""
    model, (inputs, targets) = classifier(gen), batch(gen)
    twin, optimizer, parameters = copy.deepcopy(model), sgd(model, lr=1e-5), [*model.parameters()]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        F.cross_entropy(twin(inputs), targets).backward()
    answer.autocast_step(model, F.cross_entropy, optimizer, inputs, targets)
    kept = all(now is was for now, was in zip(model.parameters(), parameters, strict=True))
    expect_that(kept, "the model's parameters are other tensors than before")
    for (name, p), q in zip(model.named_parameters(), twin.parameters(), strict=True):
        expect_equal(p.dtype, torch.float32, f"the dtype of {name} after {CALL}")
        for state in optimizer.state[p].values():
            expect_equal(state.dtype, torch.float32, f"the dtype of the momentum of {name}")
        was = q.detach()
        call = f"{name} after a small step"
        expect_close(p.detach(), was - 1e-5 * q.grad, call, ulps=4, before=was)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_own_loss(answer, gen, dtype):
    """A loss_fn of somebody's own is given float32 predictions and computes in float32."""
    model, given, computed = classifier(gen), [], []

    def loss_fn(predictions, targets):
        given.append(predictions.dtype)
        with compute_dtypes() as seen:
            loss = own_loss(predictions, targets)
        computed.append(seen)
        return loss

    answer.autocast_step(model, loss_fn, sgd(model), *batch(gen), dtype)
    expect_equal(given, [torch.float32], "the dtype of the predictions that loss_fn is given, once")
    expect_all_in(computed[0], torch.float32, "loss_fn")


@pytest.mark.fine
def test_region_ends_with_the_forward(answer, gen):
    """The backward pass and the optimizer run outside the region."""
    model, on = classifier(gen), {}
    optimizer = sgd(model)
    model[0].weight.register_hook(lambda _: on.update(backward=torch.is_autocast_enabled("cpu")))
    optimizer.register_step_pre_hook(lambda *_: on.update(step=torch.is_autocast_enabled("cpu")))
    answer.autocast_step(model, F.cross_entropy, optimizer, *batch(gen))
    for what in ("backward", "step"):
        expect_that(not on.get(what), f"autocast is on in the {what}: the region covers more than the model")


@pytest.mark.fine
def test_as_in_train_step(answer, gen):
    """What lies in `.grad` has no influence, and this batch's gradients stay there."""
    model, (inputs, targets) = classifier(gen), batch(gen)
    twin = copy.deepcopy(model)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        F.cross_entropy(twin(inputs), targets).backward()
    for p in model.parameters():
        p.grad = torch.full_like(p, 10.0)
    answer.autocast_step(model, F.cross_entropy, sgd(model), inputs, targets)
    for (name, p), q in zip(model.named_parameters(), twin.parameters(), strict=True):
        expect_that(p.grad is not None, f"`.grad` of {name} is None after {CALL}: it was cleared")
        old = {"the old numbers count: clear before the backward": lambda q=q: q.grad + 10.0}
        expect_gradient(p.grad, q.grad, f"{name} (in `.grad` afterwards)", scale=1.0, suspects=old)


@pytest.mark.fine
def test_hooks_and_modes(answer, gen):
    """The model runs once, with its hooks, in the mode that each layer is in."""
    norm, runs = nn.BatchNorm1d(3), []
    model = nn.Sequential(norm, nn.Linear(3, 4)).eval()
    model.register_forward_hook(lambda *_: runs.append(1))
    with modes_kept(CALL, model):
        answer.autocast_step(model, F.cross_entropy, sgd(model), *batch(gen))
    expect_equal(len(runs), 1, f"the number of times that the model's hooks run in {CALL}")
    expect_equal(int(norm.num_batches_tracked), 0, "the batches that a batch norm in evaluation mode tracks")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_on_a_device(answer, gen, device, dtype):
    """On another device autocast is that device's, and the host waits once: for the float."""
    model = classifier(gen).to(device)
    optimizer, (inputs, targets) = sgd(model), (t.to(device) for t in batch(gen))
    with count_traffic() as traffic, compute_dtypes() as seen:
        loss = answer.autocast_step(model, F.cross_entropy, optimizer, inputs, targets, dtype)
    expect_products_in(seen, dtype, "the model's layers, on another device")
    expect_equal(type(loss).__name__, "float", f"the type of {CALL} on another device")
    expect_equal(traffic.syncs, 1, f"the times that the host waits for the device in {CALL}")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int8], ids=str)
def test_bad_dtype(answer, gen, dtype):
    """Any dtype but bfloat16 and float16 raises ValueError, and the model has not run by then."""
    model, (inputs, targets), runs = classifier(gen), batch(gen), []
    model.register_forward_hook(lambda *_: runs.append(1))
    with unchanged(CALL, **dict(model.named_parameters())):
        expect_raises(
            ValueError,
            lambda: answer.autocast_step(model, F.cross_entropy, sgd(model), inputs, targets, dtype),
            f"autocast_step(…, dtype={dtype})",
        )
    expect_equal(len(runs), 0, f"the number of times that the model runs with dtype={dtype}")


@pytest.mark.fine
@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_on_a_gpu(answer, gen, dtype):
    """On a GPU the products of the model run in dtype, and the weights stay in float32."""
    model, (inputs, targets) = classifier(gen).cuda(), batch(gen)
    with compute_dtypes() as seen:
        loss = answer.autocast_step(model, F.cross_entropy, sgd(model), inputs.cuda(), targets.cuda(), dtype)
    expect_products_in(seen, dtype, "the model's layers, on a GPU")
    for name, p in model.named_parameters():
        expect_equal((p.dtype, p.grad.dtype), (torch.float32, torch.float32), f"{name} and its gradient")
    expect_that(math.isfinite(loss), "the loss on a GPU is not finite", yours=loss)


def oracle(answer, gen):
    def steps(gen, count, loss_fn, dtype=torch.bfloat16):
        """The losses, and the parameters afterwards."""
        model, losses = classifier(gen), []
        optimizer = sgd(model)
        for _ in range(count):
            inputs, numbers, classes = (
                batch(gen)[0],
                torch.randn(6, 4, generator=gen),
                torch.randint(4, (6,), generator=gen),
            )
            targets = numbers if loss_fn is F.mse_loss else classes
            losses.append(answer.autocast_step(model, loss_fn, optimizer, inputs, targets, dtype))
        return losses, [p.detach().clone() for p in model.parameters()]

    def losses(*how):
        return lambda gen: steps(gen, *how)[0]

    def weights(*how):
        return lambda gen: steps(gen, *how)[1]

    return {
        "the losses of steps from three models": lambda gen: [
            steps(gen, 1, F.cross_entropy)[0] for _ in range(3)
        ],
        "the weights after a step with class numbers": weights(1, F.cross_entropy),
        "the losses of three steps with numbers": losses(3, F.mse_loss),
        "the weights after three steps with numbers": weights(3, F.mse_loss),
        "the losses of two steps in float16": losses(2, F.cross_entropy, torch.float16),
        "the weights after a step in float16": weights(1, F.cross_entropy, torch.float16),
    }
