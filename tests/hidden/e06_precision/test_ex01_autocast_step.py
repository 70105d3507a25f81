"""What grades autocast_step: which part computes in which dtype, the step itself, errors, the device."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_gradient, expect_raises, expect_that, unchanged
from grader.checks.cost.precision import compute_dtypes, expect_all_in, expect_products_in
from grader.checks.devices import count_traffic, on_host

CALL = "autocast_step(model, loss_fn, optimizer, inputs, targets)"
DTYPES = [torch.bfloat16, torch.float16]


class Watched(nn.Module):
    """A classifier of 3 features that records how it is run."""

    def __init__(self, gen):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(3, 8), nn.LayerNorm(8), nn.Linear(8, 4)
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(torch.randn(p.shape, generator=gen))
        self.inputs, self.computed, self.modes = [], [], []

    def forward(self, x):
        self.inputs.append(x)
        self.modes.append([m.training for m in self.modules()])
        with compute_dtypes() as seen:
            logits = self.last(self.norm(self.first(x)).relu())
        self.computed.append(seen)
        return Witness.apply(logits, self)


class Scaled(nn.Module):
    """Doubles its input, and returns it in a dtype of its own."""

    def __init__(self, dtype):
        super().__init__()
        self.scale, self.dtype = nn.Parameter(torch.tensor(2.0)), dtype

    def forward(self, x):
        return (self.scale * x).to(self.dtype)


class Witness(torch.autograd.Function):
    """Leaves its input as it is, and looks whether the backward pass runs under autocast."""

    @staticmethod
    def forward(ctx, x, model):
        ctx.model = model
        return x.clone()

    @staticmethod
    def backward(ctx, cotangent):
        ctx.model.backward_under_autocast = torch.is_autocast_enabled(cotangent.device.type)
        return cotangent, None


class WatchedLoss:
    """A cross-entropy by hand, with a penalty that holds a matrix product; it records how it is run."""

    def __init__(self):
        self.calls, self.computed = [], []

    def __call__(self, logits, targets):
        self.calls.append((logits, targets))
        with compute_dtypes() as seen:
            loss = self.formula(logits, targets)
        self.computed.append(seen)
        return loss

    @staticmethod
    def formula(logits, targets):
        picked = logits.log_softmax(1).gather(1, targets.unsqueeze(1))
        return (logits @ logits.t()).mean() / 100 - picked.mean()


def batch(gen, size=5):
    return torch.randn(size, 3, generator=gen), torch.randint(4, (size,), generator=gen)


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def reference_step(model, inputs, targets, dtype):
    """The loss and the gradients, in the order of the parameters."""
    with torch.autocast(inputs.device.type, dtype=dtype):
        logits = model(inputs)
    loss = WatchedLoss.formula(logits.float(), targets)
    return loss.item(), torch.autograd.grad(loss, list(model.parameters()))


@pytest.mark.parametrize("dtype", [None, *DTYPES], ids=str)
def test_forward_in_dtype(answer, gen, dtype):
    """The products of the model are computed in dtype, by default in bfloat16, also on the CPU."""
    model, (inputs, targets) = Watched(gen), batch(gen)
    chosen = {} if dtype is None else {"dtype": dtype}
    answer.autocast_step(model, WatchedLoss(), sgd(model), inputs, targets, **chosen)
    expect_equal(len(model.computed), 1, "the number of times that the model runs in autocast_step(…)")
    expect_products_in(model.computed[0], dtype or torch.bfloat16, "the forward pass")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_loss_in_float32(answer, gen, dtype):
    """loss_fn is given float32 predictions and computes in float32, whatever it is made of."""
    model, loss_fn, (inputs, targets) = Watched(gen), WatchedLoss(), batch(gen)
    loss = answer.autocast_step(model, loss_fn, sgd(model), inputs, targets, dtype)
    expect_equal(len(loss_fn.calls), 1, "the number of times that loss_fn runs in autocast_step(…)")
    predictions = loss_fn.calls[0][0].detach()
    expect_equal(predictions.dtype, torch.float32, "the dtype of the predictions given to loss_fn")
    expect_all_in(loss_fn.computed[0], torch.float32, "loss_fn")
    exact = WatchedLoss.formula(predictions.double(), targets).item()
    expect_equal(type(loss).__name__, "float", f"the type of {CALL}")
    expect_that(
        math.isclose(loss, exact, rel_tol=1e-4, abs_tol=1e-4),
        f"wrong loss from {CALL}",
        yours=f"{loss:.6g}",
        wanted=f"{exact:.6g}",
    )


def test_region_ends_with_the_forward(answer, gen):
    """The backward pass and the optimizer run outside the region."""
    model, (inputs, targets) = Watched(gen), batch(gen)
    optimizer, stepping = sgd(model), []
    optimizer.register_step_post_hook(lambda *_: stepping.append(torch.is_autocast_enabled("cpu")))
    answer.autocast_step(model, WatchedLoss(), optimizer, inputs, targets)
    expect_equal(model.backward_under_autocast, False, "the state of autocast (on?) in the backward pass")
    expect_equal(stepping, [False], "the state of autocast (on?) in optimizer.step, called once")


def test_weights_stay_in_float32(answer, gen):
    """Parameters, gradients and momentum are float32, and an update too small for bfloat16 is kept."""
    model, (inputs, targets) = Watched(gen), batch(gen)
    model.register_buffer("scale", torch.full((1,), 1.001))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5, momentum=0.9)
    parameters = list(model.parameters())
    _, gradients = reference_step(copy.deepcopy(model), inputs, targets, torch.bfloat16)
    wanted = [p.detach() - 1e-5 * g for p, g in zip(parameters, gradients, strict=True)]
    answer.autocast_step(model, WatchedLoss(), optimizer, inputs, targets)
    expect_equal(model.scale, torch.full((1,), 1.001), "a buffer of the model after autocast_step(…)")
    kept = all(now is was for now, was in zip(model.parameters(), parameters, strict=True))
    expect_that(kept, "the model's parameters are other tensors than before")
    for (name, p), right in zip(model.named_parameters(), wanted, strict=True):
        expect_equal(p.dtype, torch.float32, f"the dtype of {name}")
        expect_that(p.grad is not None, f"{name} has no gradient in `.grad` after autocast_step(…)")
        expect_equal(p.grad.dtype, torch.float32, f"the dtype of the gradient of {name}")
        expect_that("momentum_buffer" in optimizer.state[p], f"optimizer.step has not moved {name}")
        expect_equal(optimizer.state[p]["momentum_buffer"].dtype, torch.float32, f"the momentum of {name}")
        expect_close(p.detach(), right, f"{name} after a small step", ulps=4)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_gradients_of_this_batch(answer, gen, dtype):
    """`.grad` holds the gradients of this batch alone, unclipped, and the momentum steps by them."""
    model, (inputs, targets) = Watched(gen), batch(gen)
    twin, groups = copy.deepcopy(model), [{"params": [*part.parameters()]} for part in model.children()]
    optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
    loss, gradients = reference_step(twin, inputs, targets, dtype)
    wanted = [p.detach() - 0.1 * g for p, g in zip(twin.parameters(), gradients, strict=True)]
    for p in model.parameters():
        p.grad = torch.full_like(p, 10.0)
    yours = answer.autocast_step(model, WatchedLoss(), optimizer, inputs, targets, dtype)
    for (name, p), g in zip(model.named_parameters(), gradients, strict=True):
        expect_gradient(p.grad, g, f"{name} (in `.grad` afterwards)", scale=float(g.abs().max()) + 1)
    for (name, p), right in zip(model.named_parameters(), wanted, strict=True):
        expect_close(p.detach(), right, f"{name} after autocast_step(…)", scale=1.0)
    close = math.isclose(yours, loss, rel_tol=1e-4, abs_tol=1e-4)
    expect_that(close, f"wrong loss from {CALL}", yours=yours, wanted=f"{loss:.6g}, before the update")


def test_inputs_and_targets_as_they_are(answer, gen):
    """The model and loss_fn are given inputs and targets in the dtype that they have."""
    model, loss_fn, (inputs, targets) = Watched(gen), WatchedLoss(), batch(gen)
    model.norm.eval()
    hooked = []
    model.register_forward_hook(lambda *_: hooked.append(1))
    modes = [m.training for m in model.modules()]
    with unchanged(CALL, inputs=inputs, targets=targets):
        answer.autocast_step(model, loss_fn, sgd(model), inputs, targets)
    expect_equal(len(hooked), 1, f"the times that the model's hooks run in {CALL}")
    expect_equal(model.modes, [modes], "the modes of the layers as the model runs")
    expect_equal([m.training for m in model.modules()], modes, f"the modes of the layers after {CALL}")
    expect_equal(model.inputs[0].detach(), inputs, "what the model is given")
    expect_equal(loss_fn.calls[0][1], targets, "the targets that loss_fn is given")
    model.eval()
    answer.autocast_step(model, loss_fn, sgd(model), inputs, targets)
    expect_equal(model.modes[1], [False] * len(modes), "the modes as a model in evaluation mode runs")

    table, tokens, column = nn.Embedding(9, 3), torch.tensor([[8, 1], [0, 8]]), torch.rand(2, 2, 3) + 1e-3
    seen = []

    def distance(predictions, targets):
        seen.append(targets)
        return F.mse_loss(predictions, targets)

    answer.autocast_step(table, distance, sgd(table), tokens, column)
    expect_equal(seen[0], column, "the float32 targets that loss_fn is given")

    inputs = torch.randn(2, 3, generator=gen).requires_grad_()
    answer.autocast_step(model, loss_fn, sgd(model), inputs, targets[:2])
    expect_that(model.inputs[-1].requires_grad, "inputs that require gradients are detached for the model")


@pytest.mark.parametrize("returned", [torch.float64, torch.float32, *DTYPES], ids=str)
def test_predictions_become_float32(answer, returned):
    """Whatever floating dtype the model returns, loss_fn is given float32; targets keep every dtype."""
    for dtype in DTYPES:
        for kind in (torch.float64, torch.float16, torch.bfloat16, torch.uint8, torch.bool):
            model, given = Scaled(returned), []

            def distance(predictions, targets, given=given):
                given.append((predictions.detach().clone(), targets))
                return (predictions - 0.5).abs().mean()

            inputs, targets = torch.tensor([[1.0], [3.0]]), torch.tensor([[0], [1]]).to(kind)
            inputs *= 1 + 2.0**-15  # more digits than either dtype has
            wanted = (2 * inputs).to(returned).float()
            answer.autocast_step(model, distance, sgd(model), inputs, targets, dtype)
            call = f"with a model that returns {returned} and dtype={dtype}"
            expect_equal(given[0][0], wanted, f"the predictions given to loss_fn {call}")
            expect_equal(given[0][1], torch.tensor([[0], [1]]).to(kind), "the targets that loss_fn is given")


@pytest.mark.parametrize("kind", [torch.float64, torch.float16, torch.int64], ids=str)
def test_inputs_of_any_dtype(answer, gen, kind):
    """Inputs of any dtype reach the model as they are, in the region; predictions keep shape, inf and NaN."""
    table = nn.Parameter(torch.randn(4, 3, generator=gen))
    seen, given = [], []

    class Lookup(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = table

        def forward(self, x):
            with compute_dtypes() as computed:
                scores = self.table @ self.table.t()
            seen.append((x, computed))
            return torch.cat(
                (scores.reshape(-1, 1).float(), torch.tensor([[math.inf], [-math.inf], [math.nan]]))
            )

    def loss_fn(predictions, targets):
        given.append((predictions.detach().clone(), targets))
        return predictions[:16].mean()

    inputs, targets = torch.tensor([2, 0, 1]).to(kind), torch.ones(19)
    model = Lookup()
    answer.autocast_step(model, loss_fn, sgd(model), inputs, targets)
    expect_equal(seen[0][0], inputs, "what the model is given")
    expect_products_in(seen[0][1], torch.bfloat16, f"the forward pass with inputs in {kind}")
    expect_equal(tuple(given[0][0].shape), (19, 1), "the shape of the predictions given to loss_fn")
    last = torch.tensor([[math.inf], [-math.inf], [math.nan]])
    expect_equal(given[0][0][16:], last, "predictions of inf, -inf and NaN, given to loss_fn")
    expect_equal(given[0][1], targets, "the targets that loss_fn is given")


def test_weights_of_now(answer):
    """Each call computes with the weights that the one before has left."""
    for dtype in DTYPES:
        model = nn.Linear(1, 1, bias=False)
        nn.init.ones_(model.weight)
        optimizer, x = torch.optim.SGD(model.parameters(), lr=0.25), torch.ones(1, 1)
        losses = [answer.autocast_step(model, F.l1_loss, optimizer, x, 9 * x, dtype) for _ in range(3)]
        expect_equal(losses, [8.0, 7.75, 7.5], f"the losses of three calls of autocast_step(…, {dtype})")


def test_all_digits_of_the_loss(answer):
    """A loss in float64 is not rounded on its way to the float."""
    model, targets = Scaled(torch.float32), torch.tensor([[1 / 3], [1e-9]], dtype=torch.float64)
    wanted = ((2 - 1 / 3) + (6 - 1e-9)) / 2
    loss_fn = lambda p, t: (p - t).abs().mean()  # noqa: E731
    loss = answer.autocast_step(model, loss_fn, sgd(model), torch.tensor([[1.0], [3.0]]), targets)
    expect_that(
        math.isclose(loss, wanted, rel_tol=1e-14),
        "the loss of float64 targets is rounded",
        yours=f"{loss:.16g}",
        wanted=f"{wanted:.16g}",
    )


@pytest.mark.parametrize("bad", [math.nan, math.inf], ids=str)
def test_no_step_is_skipped(answer, bad):
    """The optimizer steps once, also where the loss is NaN or inf."""
    model, steps = Scaled(torch.float32), []
    optimizer = sgd(model)
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    loss_fn = lambda p, t: (p * bad).square().sum()  # noqa: E731
    loss = answer.autocast_step(model, loss_fn, optimizer, torch.ones(2, 1), torch.ones(2, 1), torch.float16)
    expect_equal(loss, bad, f"{CALL} where the loss is {bad}")
    expect_equal(len(steps), 1, f"the number of optimizer steps where the loss is {bad}")
    expect_that(not math.isfinite(model.scale), f"the gradient of a loss of {bad} does not reach the step")
    model.scale.data.fill_(2.0)
    answer.autocast_step(model, loss_fn, optimizer, torch.ones(0, 1), torch.ones(0, 1), torch.float16)
    expect_equal(len(steps), 2, "the number of optimizer steps after another call, of no inputs")


def test_no_scaler(answer):
    """Gradients pass through float16 as they are: scaled, those of a large loss would overflow."""
    model = Scaled(torch.float16)
    loss_fn = lambda p, t: (p - t).sum() * 30_000  # noqa: E731
    inputs, targets = torch.tensor([[1.0], [0.5]]), torch.zeros(2, 1)
    loss = answer.autocast_step(model, loss_fn, sgd(model), inputs, targets, torch.float16)
    expect_gradient(model.scale.grad, torch.tensor(45_000.0), "a parameter, of a large loss in float16")
    expect_close(model.scale.detach(), torch.tensor(2.0 - 4_500.0), "the parameter after a step")
    expect_equal(loss, 90_000.0, "the loss of the large loss in float16")


@pytest.mark.parametrize("how", ["unused", "frozen"])
def test_parameters_without_gradient(answer, gen, how):
    """A parameter that the loss does not depend on gets no gradient; momentum and decay leave it alone."""
    model = Watched(gen)
    model.extra = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)
    if how == "frozen":
        model.norm.requires_grad_(False)
        model.extra.requires_grad_(False)
    without = [*model.extra.parameters(), *(model.norm.parameters() if how == "frozen" else ())]
    before = [p.detach().clone() for p in without]
    for stale in (False, True):
        for p in model.parameters():
            p.grad = torch.full_like(p, 10.0) if stale else None
        answer.autocast_step(model, WatchedLoss(), optimizer, *batch(gen))
        for p, was in zip(without, before, strict=True):
            told = f"a parameter that is {how} has a gradient after {CALL}" + ", as before it" * stale
            expect_that(p.grad is None, told, yours=p.grad, wanted="None")
            expect_equal(p.detach(), was, f"a parameter that is {how}, after {CALL}")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_on_a_device(answer, gen, device, dtype):
    """On another device autocast is that device's, and the host waits once: for the float."""
    model, loss_fn, (inputs, targets) = Watched(gen), WatchedLoss(), batch(gen)
    model.to(device)
    optimizer, inputs, targets = sgd(model), inputs.to(device), targets.to(device)
    with count_traffic() as traffic:
        loss = answer.autocast_step(model, loss_fn, optimizer, inputs, targets, dtype)
    expect_equal(type(loss).__name__, "float", f"the type of {CALL} on another device")
    expect_products_in(model.computed[0], dtype, "the forward pass on another device")
    expect_all_in(loss_fn.computed[0], torch.float32, "loss_fn on another device")
    expect_equal(traffic.syncs, 1, "the times that the host waits for the device in autocast_step(…)")
    expect_equal(traffic.to_device, 0, "the copies from the host to the device in autocast_step(…)")
    predictions = on_host(loss_fn.calls[0][0])
    exact = WatchedLoss.formula(predictions.double(), on_host(targets)).item()
    close = math.isclose(loss, exact, rel_tol=1e-4, abs_tol=1e-4)
    expect_that(close, "wrong loss on another device", yours=loss, wanted=exact)


def test_autocast_is_restored(answer, gen):
    """Autocast is as it was, after a step and after an error in the model or in loss_fn."""

    def state():
        return (
            torch.is_autocast_enabled("cpu"),
            torch.get_autocast_dtype("cpu"),
            torch.is_autocast_cache_enabled(),
        )

    runs = []

    def fails(*_):
        raise KeyError("no such class")

    def runs_out(*_):
        runs.append(1)
        raise RuntimeError("out of memory")

    model, broken, (inputs, targets) = Watched(gen), Watched(gen), batch(gen)
    broken.forward = runs_out
    torch.set_autocast_dtype("cpu", torch.bfloat16)  # whatever earlier checks have left
    torch.set_autocast_cache_enabled(True)
    before = state()
    answer.autocast_step(model, WatchedLoss(), sgd(model), inputs, targets, torch.float16)
    expect_equal(state(), before, "autocast (enabled, dtype, cache) after autocast_step(…)")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        around = state()
        answer.autocast_step(model, WatchedLoss(), sgd(model), inputs, targets, torch.float16)
        expect_equal(
            state(), around, "autocast (enabled, dtype, cache) after autocast_step(…) inside a region"
        )
    for what, error, args in (
        ("the model", RuntimeError, (broken, WatchedLoss())),
        ("loss_fn", KeyError, (model, fails)),
    ):
        optimizer = sgd(args[0])
        expect_raises(
            error,
            lambda args=args, optimizer=optimizer: answer.autocast_step(
                *args, optimizer, inputs, targets, torch.float16
            ),
            f"autocast_step(…) where {what} raises {error.__name__}",
        )
        expect_equal(state(), before, f"autocast (enabled, dtype, cache) after an error in {what}")
    expect_equal(len(runs), 1, "the number of times that a model which raises RuntimeError runs")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int16, torch.float8_e5m2], ids=str)
def test_bad_dtype(answer, gen, dtype):
    """Any dtype but bfloat16 and float16 raises ValueError, and nothing has run or moved by then."""
    model, (inputs, targets) = Watched(gen), batch(gen)
    with unchanged(CALL, **dict(model.named_parameters())):
        for size in (5, 0):
            x, y = inputs[:size], targets[:size]
            expect_raises(
                ValueError,
                lambda x=x, y=y: answer.autocast_step(model, WatchedLoss(), sgd(model), x, y, dtype),
                f"autocast_step(…, dtype={dtype}) of {size} inputs",
            )
    expect_equal(len(model.inputs), 0, f"the number of times that the model runs with dtype={dtype}")


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_on_a_gpu(answer, gen, dtype):
    """On a GPU the products of the model run in dtype, and the loss in float32."""
    model, loss_fn, (inputs, targets) = Watched(gen).cuda(), WatchedLoss(), batch(gen)
    loss = answer.autocast_step(model, loss_fn, sgd(model), inputs.cuda(), targets.cuda(), dtype)
    expect_products_in(model.computed[0], dtype, "the forward pass on a GPU")
    expect_all_in(loss_fn.computed[0], torch.float32, "loss_fn on a GPU")
    for name, p in model.named_parameters():
        expect_equal((p.dtype, p.grad.dtype), (torch.float32, torch.float32), f"{name} and its gradient")
    expect_that(math.isfinite(loss), "the loss on a GPU is not finite", yours=loss)


def oracle(answer, gen):
    results = []
    for dtype in DTYPES:
        model, (inputs, targets) = Watched(gen), batch(gen)
        results.append(answer.autocast_step(model, WatchedLoss(), sgd(model), inputs, targets, dtype))
        results.append([p.grad.clone() for p in model.parameters()])
        results.append([p.detach().clone() for p in model.parameters()])
    return results
