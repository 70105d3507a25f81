"""What grades batch_norm: both modes, running statistics, state dict, precision, gradients, devices."""

import copy
import functools

import pytest
import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_raises,
    expect_that,
    forbid,
    unchanged,
)
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated, on_host
from grader.checks.module_contract import (
    Case,
    expect_casts,
    expect_copies,
    expect_functional,
    expect_loads,
    expect_moves,
)
from grader.checks.registered import expect_registered, randomize, state_of

SHAPES = [(7, 3), (2, 3, 5), (4, 3, 2, 5), (1, 3, 4), (2, 3, 1, 2, 2), (3, 3), (5, 1)]
MOMENTA = [0.1, None, 0.0, 1.0, 0.3]
STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
OWN = (
    "batch_norm", "native_batch_norm", "native_batch_norm_legit", "batch_norm_stats", "instance_norm",
    "group_norm", "native_group_norm", "layer_norm", "native_layer_norm",
)  # fmt: skip


def normalised(state, x, eps=1e-5, training=False):
    mean, var = (None, None) if training else (state["running_mean"], state["running_var"])
    return F.batch_norm(x, mean, var, state["weight"], state["bias"], training=training, eps=eps)


def mistakes(state, x, eps):
    """What people get wrong in the result of training mode, and what it gives."""
    every = [0, *range(2, x.dim())]
    weight, bias = (state[n].view(-1, *[1] * (x.dim() - 2)) for n in ("weight", "bias"))
    mean = x.mean(every, keepdim=True)
    biased, unbiased = (x.var(every, correction=n, keepdim=True) for n in (0, 1))
    return {
        "the unbiased variance normalises: it is for running_var alone": lambda: (
            (x - mean) / (unbiased + eps).sqrt() * weight + bias
        ),
        "the eps that is given has no effect: add it to the variance": lambda: (
            (x - mean) / (biased + 1e-5).sqrt() * weight + bias
        ),
        "eps is added to the deviation, not to the variance": lambda: (
            (x - mean) / (biased.sqrt() + eps) * weight + bias
        ),
    }


def mistakes_of_running(before, x, momentum):
    """What people get wrong in an update of the running statistics, by name, and what it gives."""
    features = x.double().transpose(0, 1).flatten(1)
    mean, biased = features.mean(1), features.var(1, correction=0)
    old_mean, old_var = before["running_mean"], before["running_var"]
    swapped = {
        "momentum weighs the old numbers: here it is the weight of the new ones": lambda: (
            momentum * old_mean + (1 - momentum) * mean
        ),
    }
    return {
        "running_mean": swapped if 0 < momentum < 1 else {},
        "running_var": {
            "running_var takes the biased variance: divide by n - 1": lambda: (
                (1 - momentum) * old_var + momentum * biased
            ),
        },
    }


def filled(answer, gen, features=3, dtype=torch.float32, **options):
    """A layer with random parameters and running statistics, and PyTorch's own with the same."""
    layer, own = answer.BatchNorm(features, **options), nn.BatchNorm1d(features, **options)
    randomize(own, gen)
    layer.load_state_dict(own.state_dict())
    return layer.to(dtype), own.double()


def expect_normalised(layer, own, x, eps, call):
    exact, state = x.double(), state_of(own)
    wanted = normalised(state, exact, eps, training=True).float()
    expect_close(layer(x), wanted, call, ulps=100, suspects=mistakes(state, exact, eps))


def evaluating(answer, inputs, **options):
    features = inputs[0].shape[1]
    eps = options.get("eps", 1e-5)
    return Case(
        lambda: answer.BatchNorm(features, **options).eval(),
        inputs,
        lambda state, x: normalised(state, x, eps),
        f"BatchNorm({features}).eval()",
    )


def views(gen):
    """Batches that are not laid out row by row, or lie in the middle of a larger one."""
    yield "transposed", torch.randn(3, 6, generator=gen).T
    yield "channels last", torch.randn(2, 4, 5, 3, generator=gen).permute(0, 3, 2, 1)
    yield "in the middle", torch.randn(9, 7, generator=gen)[2:7, 3:6]
    yield "expanded", torch.randn(4, 3, 1, generator=gen).expand(4, 3, 5)


@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_training_output(answer, gen, eps):
    """In training mode each feature is normalised over all other dimensions of the batch, then scaled."""
    for shape in SHAPES:
        layer, own = filled(answer, gen, shape[1], eps=eps)
        x = 5 + 2 * torch.randn(shape, generator=gen)
        expect_normalised(layer, own, x, eps, f"BatchNorm({shape[1]}, eps={eps})(x) for x of {shape}")
    few = ("of deviation 0.001", 1e-3 * torch.randn(6, 3, generator=gen))
    for how, x in [*views(gen), few]:
        layer, own = filled(answer, gen, eps=eps)
        expect_normalised(layer, own, x, eps, f"BatchNorm(3, eps={eps})(x) for x {how}")


@pytest.mark.parametrize("momentum", MOMENTA)
def test_running_statistics(answer, gen, momentum):
    """Over several batches of unequal sizes the running statistics are those of PyTorch's own layer."""
    layer, own = filled(answer, gen, momentum=momentum)
    for number, shape in enumerate([(4, 3), (2, 3), (3, 3, 5), (2, 3, 2, 4), (300, 3)], start=1):
        x = 2 + 3 * torch.randn(shape, generator=gen)
        own_view = x.double().flatten(2) if x.dim() > 2 else x.double()
        if number == 4:  # a layer that has seen many batches
            layer.num_batches_tracked.fill_(3000)
            own.num_batches_tracked.fill_(3000)
        before = state_of(own)
        own(own_view)
        weight = 1 / int(own.num_batches_tracked) if momentum is None else momentum
        suspects = mistakes_of_running(before, x, weight)
        layer.requires_grad_(number != 3)  # frozen parameters do not stop the statistics
        with torch.no_grad() if number == 2 else torch.enable_grad():
            layer(x)
        for name in STATISTICS:
            wanted = getattr(own, name)
            expect_close(
                getattr(layer, name),
                wanted.float() if wanted.is_floating_point() else wanted,
                f"{name} after {number} batches, the last of {shape}, with momentum={momentum}",
                suspects=suspects.get(name),
            )


def test_evaluation(answer, gen):
    """In evaluation mode the running statistics normalise a batch of any size, and nothing is updated."""
    for shape in [*SHAPES, (1, 3), (0, 3), (2, 3, 0), (0, 3, 4)]:
        layer, own = filled(answer, gen, shape[1], eps=0.1)
        layer.eval()
        before = state_of(layer)
        x = 2 * torch.randn(shape, generator=gen)
        wanted = normalised(state_of(own), x.double(), 0.1).float()
        batch = functools.partial(normalised, state_of(own), x.double(), 0.1, training=True)
        suspects = {"the batch's statistics normalise in evaluation mode, too": batch} if len(x) > 1 else {}
        expect_close(layer(x), wanted, f"layer.eval()(x) for x of {shape}", suspects=suspects)
        for name in STATISTICS:
            expect_equal(getattr(layer, name), before[name], f"{name} after layer.eval()(x)")


def test_modes_switch(answer, gen):
    """The mode is the one of the model that holds the layer, each time that it is called."""
    layer, own = filled(answer, gen)
    model = nn.Sequential(layer)
    own.train()
    for training in (True, False, False, True, True, False):
        model.train(training)
        own.train(training)
        x = torch.randn(4, 3, generator=gen)
        wanted = own(x.double()).detach().float()
        expect_close(model(x), wanted, f"a model with BatchNorm(3), training={training}", ulps=100)


def test_registered(answer):
    """Parameters and buffers are registered with their first values, and saved; nothing else is."""
    layer = answer.BatchNorm(2)
    expect_registered(
        layer,
        "BatchNorm(2)",
        parameters={"weight": [2], "bias": [2]},
        buffers={"running_mean": [2], "running_var": [2], "num_batches_tracked": []},
    )
    for name, wanted in nn.BatchNorm1d(2).state_dict().items():
        expect_equal(layer.state_dict()[name], wanted, f"{name} of a new BatchNorm(2)")
    two = answer.BatchNorm(2)
    two(torch.arange(6.0).view(3, 2))
    expect_equal(layer.running_mean, torch.zeros(2), "running_mean of one layer after another was trained")


def test_saved_and_loaded(answer, gen):
    """State dicts go to PyTorch's own layer and back, and a copied layer has statistics of its own."""
    layer, own = answer.BatchNorm(3, momentum=None), nn.BatchNorm1d(3, momentum=None)
    for _ in range(3):
        layer(torch.randn(4, 3, generator=gen))
    before = state_of(layer)
    own.load_state_dict(layer.state_dict())
    for name in STATISTICS:
        expect_equal(getattr(own, name), before[name], f"{name} of an nn.BatchNorm1d that loaded the state")
    again, x = answer.BatchNorm(3, momentum=None), torch.randn(5, 3, generator=gen)
    again.load_state_dict(own.state_dict())
    own(x)
    again(x)
    expect_close(again.running_mean, own.running_mean, "running_mean, loaded and trained on")
    twin = copy.deepcopy(layer)
    twin(x)
    for name in STATISTICS:
        expect_equal(getattr(layer, name), before[name], f"{name} after its deep copy has trained")
    expect_loads(evaluating(answer, [x]), gen)
    expect_copies(evaluating(answer, [x]), gen)


def test_updated_in_place(answer, gen):
    """Who holds a buffer from before sees the new statistics; they carry no graph."""
    layer = answer.BatchNorm(3)
    held, saved = {name: getattr(layer, name) for name in STATISTICS}, layer.state_dict()
    for _ in range(2):
        layer(torch.randn(4, 3, generator=gen, requires_grad=True))
    for name in STATISTICS:
        now = getattr(layer, name)
        expect_that(now is held[name], f"{name} is another tensor after layer(x): not updated in place")
        expect_that(not now.requires_grad, f"{name} has become part of the graph")
        expect_equal(saved[name], now, f"{name} in a state dict from before: updated in place, it sees")
    others = {name: t.clone() for name, t in layer.named_buffers()}
    before = state_of(layer)
    functional_call(layer, others, (torch.randn(4, 3, generator=gen),))
    expect_equal(int(others["num_batches_tracked"]), 3, "the count in the buffers of functional_call")
    expect_equal(layer.running_mean, before["running_mean"], "running_mean after functional_call with others")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """Half precision is computed in float32 and rounded once, in a float32 layer and in one that is cast."""
    half_a_step = 0.6 * torch.finfo(dtype).eps / torch.finfo(torch.float64).eps
    # some squares overflow float16, the variance does not: it may be cast before the update
    x = (3 + 100 * torch.randn(64, 3, generator=gen)).to(dtype)
    for kind in (torch.float32, dtype):
        layer, own = filled(answer, gen, dtype=kind)
        own.load_state_dict(layer.state_dict())
        for training in (True, False):
            layer.train(training)
            own.train(training)
            wanted = own(x.double()).detach()
            yours = layer(x)
            call = f"a {kind} layer on {dtype}, training={training}"
            expect_equal(yours.dtype, dtype, f"the dtype from {call}")
            expect_close(yours.double(), wanted, call, ulps=half_a_step, scale=0.01)
            if not training and kind == torch.float32:
                break
            for name in STATISTICS[:2]:
                expect_close(
                    getattr(layer, name),
                    getattr(own, name).to(kind),
                    f"{name} of {call}",
                    ulps=40 if kind == torch.float32 else None,
                )
            own.load_state_dict(layer.state_dict())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("momentum", [0.1, 0.3, None], ids=str)
def test_half_precision_statistics(answer, gen, dtype, momentum):
    """A layer that was cast updates its running statistics in float32, and rounds them at the end."""
    layer, own = filled(answer, gen, 50, dtype=dtype, momentum=momentum)
    step = 0.5 * torch.finfo(dtype).eps
    for count in (1, 2, 3):
        own.load_state_dict(layer.state_dict())
        x = (3 * torch.randn(20, 50, generator=gen) - 1).to(dtype)
        exact = x.double()
        news = {"running_mean": exact.mean(0), "running_var": exact.var(0)}
        own(exact)
        layer(x)
        for name, new in news.items():
            right = getattr(own, name)
            # the new statistics may be rounded to the buffer's dtype as well, before they are weighed
            most = step * (right.abs() + (momentum or 1 / count) * new.abs()) * 1.02 + 1e-6
            error = (getattr(layer, name).double() - right).abs()
            expect_that(
                bool((error <= most).all()),
                f"{name} of a {dtype} layer is rounded more than once in update {count}, momentum={momentum}",
                yours=f"an error of up to {float((error / (step * right.abs())).max() / 2):.2f} steps",
                wanted="half a step, from one rounding",
            )


def test_float64(answer, gen):
    """A float64 layer computes in float64, and its count of batches stays an int64."""
    layer, own = filled(answer, gen, dtype=torch.float64, eps=1e-3)
    x = torch.randn(5, 3, generator=gen, dtype=torch.float64)
    wanted = own.train()(x).detach()  # own has another eps
    wanted = normalised(state_of(own), x, 1e-3, training=True)
    expect_close(layer(x), wanted, "a float64 layer, training=True", ulps=200)
    for name in STATISTICS:
        expect_close(getattr(layer, name), getattr(own, name), f"{name} of a float64 layer")
    expect_casts(evaluating(answer, [torch.randn(5, 3, generator=gen)]), torch.float64, gen)
    average, own = filled(answer, gen, dtype=torch.float64, momentum=None)
    for number in (1, 2, 3):
        x = torch.randn(4, 3, generator=gen, dtype=torch.float64)
        own(x)
        average(x)
        for name in STATISTICS:
            call = f"{name} of a float64 layer after {number} batches with momentum=None"
            expect_close(getattr(average, name), getattr(own, name), call)
    for training in (True, False):
        plain, _ = filled(answer, gen)
        plain.train(training)
        wanted = normalised({name: t.double() for name, t in state_of(plain).items()}, x, training=training)
        expect_close(plain(x), wanted, f"a float32 layer on float64, training={training}", ulps=200)
        layer.train(training)
        yours = layer(x.float())
        expect_equal(
            yours.dtype, torch.float32, f"the dtype from a float64 layer on float32, training={training}"
        )
    expect_equal(layer.half().num_batches_tracked.dtype, torch.int64, "the dtype of num_batches_tracked")


def test_difficult_features(answer, gen):
    """Constant features, and means far above the deviation, give exact results and finite gradients."""
    x = torch.randn(8, 3, generator=gen)
    x[:, 0] = 7.25
    x[:, 1] += 1e4
    layer, own = filled(answer, gen)
    wanted = normalised(state_of(own), x.double(), training=True)
    leaf = x.clone().requires_grad_()
    yours = layer(leaf)
    # the mean near 1e4 is rounded to 0.0005, which is what the wanted tolerance allows for
    expect_close(yours[:, :1], wanted[:, :1].float(), "a constant feature in training mode", ulps=100)
    expect_close(yours[:, 1:], wanted[:, 1:].float(), "features with means of 1e4 and 0", ulps=2e4)
    own(x.double())
    expect_close(layer.running_var[2:], own.running_var[2:].float(), "running_var")
    expect_close(
        layer.running_var[1:2], own.running_var[1:2].float(), "running_var of a mean of 1e4", ulps=2e3
    )
    cotangent = torch.randn(8, 3, generator=gen)
    yours.backward(cotangent)
    expect_that(bool(leaf.grad.isfinite().all()), "the gradient of a constant feature is not finite")
    spread = cotangent[:, 0].double() - cotangent[:, 0].double().mean()
    slope = (state_of(own)["weight"][0] * spread / 1e-5**0.5).float()  # the variance is 0: eps alone
    expect_close(leaf.grad[:, 0], slope, "the gradient of x, a constant feature", ulps=1e3, scale=1e3)


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_gradients(answer, gen, training):
    """Gradients flow to x, weight and bias; in training mode also through the mean and the variance."""
    for shape in [(6, 3), (2, 3, 4)]:
        layer, own = filled(answer, gen)
        layer.train(training)
        state = state_of(own)
        expect_gradients(
            lambda x, w, b, layer=layer: functional_call(layer, {"weight": w, "bias": b}, (x,)),
            [
                1 + 2 * torch.randn(shape, generator=gen),
                torch.randn(3, generator=gen),
                torch.randn(3, generator=gen),
            ],
            lambda x, w, b, state=state: normalised({**state, "weight": w, "bias": b}, x, training=training),
            gen=gen,
            call=f"BatchNorm(3)(x), training={training}",
            names="x weight bias",
            scale=4.0,
        )
    if not training:
        expect_functional(evaluating(answer, [torch.randn(4, 3, generator=gen)]), gen)


def test_trains_in_a_model(answer, gen):
    """A model that holds the layer trains, and then predicts, as with PyTorch's own."""
    layer, own = filled(answer, gen)
    head = nn.Linear(3, 1).double()
    models = [nn.Sequential(layer.double(), head), nn.Sequential(own, copy.deepcopy(head))]
    for _ in range(3):
        x = torch.randn(6, 3, generator=gen, dtype=torch.float64)
        for model in models:
            model.zero_grad()
            (model(x) - x.sum(1, keepdim=True)).square().mean().backward()
            with torch.no_grad():
                for p in model.parameters():
                    p -= 0.1 * p.grad
    for (name, mine), right in zip(
        models[0].state_dict().items(), models[1].state_dict().values(), strict=True
    ):
        expect_close(mine, right, f"{name} of a model after three steps of training", ulps=1e4)
    x = torch.randn(1, 3, generator=gen, dtype=torch.float64)
    wanted = models[1].eval()(x).detach()
    expect_close(models[0].eval()(x).detach(), wanted, "what the trained model predicts", ulps=1e4)


def test_bad_input(answer):
    """Bad shapes raise ValueError, and leave the running statistics alone."""
    layer = answer.BatchNorm(3)
    before = state_of(layer)
    bad = [(3,), (), (4, 2), (4, 1), (3, 4), (2, 6), (4, 5, 3)]
    for training, shapes in [
        (True, [*bad, (1, 3), (0, 3), (1, 3, 1), (2, 3, 0)]),
        (False, [*bad, (0, 4), (0, 1), (2, 4, 0)]),
    ]:
        layer.train(training)
        for shape in shapes:
            expect_raises(
                ValueError, lambda shape=shape: layer(torch.ones(shape)), f"BatchNorm(3)(x) for x of {shape}"
            )
            for name in STATISTICS:
                expect_equal(
                    getattr(layer, name), before[name], f"{name} after a ValueError for x of {shape}"
                )
        single = answer.BatchNorm(1).train(training)
        expect_raises(ValueError, lambda: single(torch.ones(4, 3)), "BatchNorm(1)(x) for x of (4, 3)")  # noqa: B023


def test_batch_is_left_alone(answer, gen):
    """x keeps its values in both modes, and the result has memory of its own."""
    layer, x = answer.BatchNorm(3), torch.randn(4, 3, generator=gen)
    for training in (True, False):
        layer.train(training)
        for gradients in (True, False):
            call = "layer(x)" if gradients else "layer(x) under no_grad"
            with torch.set_grad_enabled(gradients), unchanged(call, x=x):
                yours = layer(x)
                yours.detach().zero_()


@pytest.mark.parametrize("momentum", [0.1, None])
def test_on_a_device(answer, gen, device, momentum):
    """A layer that was moved works there in both modes, and copies nothing between device and CPU."""
    layer, own = filled(answer, gen, momentum=momentum)
    nn.Sequential(layer).to(device)
    x = torch.randn(5, 3, generator=gen)
    there = x.to(device)
    for training in (True, False):
        layer.train(training)
        own.train(training)
        wanted = own(x.double()).detach().float()
        with count_traffic() as traffic:
            yours = layer(there)
        expect_that(is_simulated(yours), "the result is not on the device of x", yours=yours)
        expect_close(on_host(yours), wanted, f"the layer on a device, training={training}", ulps=100)
        expect_no_traffic(traffic, f"the layer, training={training}")
    for name in STATISTICS:
        right = getattr(own, name)
        right = right.float() if right.is_floating_point() else right
        expect_close(on_host(getattr(layer, name)), right, f"{name} of a layer on a device")
    expect_moves(evaluating(answer, [x], momentum=momentum), device, gen)


def test_own_computation(answer, gen):
    """The layer leans on none of PyTorch's norms, and does not loop over rows, features or positions."""
    for training in (True, False):
        with forbid("layer(x)", *OWN):
            answer.BatchNorm(3).train(training)(torch.arange(12.0).view(4, 3))
        for over, sizes in [
            ("rows", lambda n: (n, 3)),
            ("features", lambda n: (4, n)),
            ("positions", lambda n: (2, 3, n)),
        ]:

            def make(n, sizes=sizes, training=training):
                x = torch.randn(sizes(n), generator=gen)
                layer = answer.BatchNorm(x.shape[1]).train(training)
                return lambda: layer(x)

            expect_flat_cost(make, "layer(x)", over=over)


def oracle(answer, gen):
    results = []
    for momentum in (0.2, None):
        layer = answer.BatchNorm(3, eps=1e-3, momentum=momentum).double()
        for shape in [(5, 3), (2, 3, 4)]:
            x = (1 + 2 * torch.randn(shape, generator=gen, dtype=torch.float64)).requires_grad_()
            out = layer(x)
            out.mul(torch.randn(out.shape, generator=gen, dtype=torch.float64)).sum().backward()
            results += [out.detach(), x.grad, *(t.detach().clone() for t in layer.state_dict().values())]
        results.append(layer.eval()(torch.randn(2, 3, generator=gen, dtype=torch.float64)).detach())
    return results
