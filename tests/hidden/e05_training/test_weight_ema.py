"""What grades weight_ema: averages and buffers, step by step; errors, memory, half precision, states."""

import io
from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.contract import Contract, given
from grader.checks.registered import state_of


def network():
    return nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))


def history(gen, steps):
    """What is in the network at first, after each of some steps, and after a last one without an update."""
    found = []
    for step in range(steps + 2):
        state = {}
        for name, t in network().state_dict().items():
            drawn = 3 * torch.randn(t.shape, generator=gen)
            state[name] = drawn if t.is_floating_point() else torch.tensor(7 * step + 1)
        found.append(state)
    return found


def flat(state, kind):
    """All parameters in one tensor, or all buffers."""
    buffers = dict(network().named_buffers())
    chosen = [t for name, t in state.items() if (name in buffers) == (kind == "buffers")]
    return torch.cat([t.detach().reshape(-1).to(torch.float32) for t in chosen])


def rate(t, decay):
    return min(decay, (1 + t) / (10 + t))


def averaged(states, decay, rate=rate, begin=1.0, buffers="copied", tell="average"):
    """Parameters and buffers within swapped(), after all updates; or with a mistake."""
    now = {name: begin * t.double() for name, t in states[0].items()}
    names = set(dict(network().named_buffers()))
    for t, state in enumerate(states[1:-1], 1):
        d = rate(t, decay)
        for name, value in state.items():
            mixed = d * now[name] + (1 - d) * value.double() if value.is_floating_point() else value
            if name in names:
                mixed = {"copied": value.double(), "averaged": mixed, "first": now[name]}.get(
                    buffers, value.double()
                )
            now[name] = mixed
    own = {"parameters": tell == "own", "buffers": buffers == "own"}
    now = {n: states[-1][n] if own["buffers" if n in names else "parameters"] else t for n, t in now.items()}
    return [flat(now, "parameters"), flat(now, "buffers")]


def wrong(**how):
    return partial(averaged, **how)


def run(answer, states, decay):
    model = network()
    model.load_state_dict(states[0])
    ema = answer.WeightEMA(model, decay)
    for state in states[1:-1]:
        model.load_state_dict(state)
        ema.update()
    model.load_state_dict(states[-1])
    with ema.swapped():
        state = state_of(model)
    return [flat(state, "parameters"), flat(state, "buffers")]


contract = Contract(
    "WeightEMA(model, decay)",
    reference=averaged,
    use=run,
    inputs=lambda gen: {
        "one step": given(history(gen, 1), 0.75),
        "four steps, decay=0.999": given(history(gen, 4), 0.999),
        "nine steps, decay=0.375": given(history(gen, 9), 0.375),
        "before the first update": given(history(gen, 0), 0.75),
    },
    widens=False,
    scale=10.0,
    suspects={
        "there is no warm-up: d is decay": wrong(rate=lambda t, decay: decay),
        "decay is ignored: the warm-up goes on for ever": wrong(rate=lambda t, decay: rate(t, 1.0)),
        "t counts from 0: the first update has t = 1": wrong(rate=lambda t, decay: rate(t - 1, decay)),
        "d stands at the parameter: it belongs to the average": wrong(
            rate=lambda t, decay: 1 - rate(t, decay)
        ),
        "the averages begin at 0, not with a copy of the model": wrong(begin=0.0),
        "buffers are averaged: they are copied": wrong(buffers="averaged"),
        "buffers stay those of the beginning: copy them in update()": wrong(buffers="first"),
        "the buffers are the model's own: those of the last update are wanted": wrong(buffers="own"),
        "the model still has its own weights": wrong(tell="own"),
    },
)


@pytest.fixture
def trained(answer, gen):
    """A model and its average after two steps, and one more step of the model."""
    states, model = history(gen, 2), network()
    model.load_state_dict(states[0])
    ema = answer.WeightEMA(model, 0.75)
    for state in states[1:-1]:
        model.load_state_dict(state)
        ema.update()
    model.load_state_dict(states[-1])
    return model, ema


def expect_state(model, wanted, when):
    for name, t in state_of(model).items():
        expect_equal(t, wanted[name], f"{name} {when}")


def test_own_weights_are_back(trained):
    """After swapped() the model has its own weights and buffers, bit for bit, also the second time."""
    model, ema = trained
    wanted = state_of(model)
    for time in ("first", "second"):
        with ema.swapped():
            model.eval()(torch.ones(1, 3))
        expect_state(model, wanted, f"after the {time} swapped()")


@pytest.mark.fine
def test_error(trained):
    """After an error within swapped(), the model's own weights are back, and the error comes through."""
    model, ema = trained
    wanted, came = state_of(model), False
    try:
        with ema.swapped():
            raise FloatingPointError("the samples are NaN")
    except FloatingPointError:
        came = True
    expect_that(came, "an error within swapped() does not come through")
    expect_state(model, wanted, "after an error within swapped()")


@pytest.mark.fine
def test_same_memory(trained):
    """Parameters and buffers are the same objects in the same memory, within swapped() and after it."""
    model, ema = trained

    def places():
        return {
            name: (id(t), t.data_ptr()) for name, t in [*model.named_parameters(), *model.named_buffers()]
        }

    before = places()
    with ema.swapped():
        inside = places()
    for when, found in {"within": inside, "after": places()}.items():
        moved = sorted(name for name in before if found.get(name) != before[name])
        told = f"{when} swapped() the model has other tensors, which its optimizer does not hold"
        expect_that(not moved, told, yours=", ".join(moved))


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision(answer, dtype):
    """Averages of parameters in half precision do not lose small steps."""
    model = nn.Linear(2, 1, bias=False).to(dtype)
    nn.init.zeros_(model.weight)
    ema, exact = answer.WeightEMA(model, 0.9), 0.0
    nn.init.ones_(model.weight)
    for t in range(1, 101):
        ema.update()
        exact += (1 - rate(t, 0.9)) * (1.0 - exact)
    nn.init.constant_(model.weight, 1.0078125)  # from here on, a tenth of the step is lost in bfloat16
    for t in range(101, 151):
        ema.update()
        exact += (1 - rate(t, 0.9)) * (1.0078125 - exact)
    nn.init.constant_(model.weight, 0.0)
    for t in range(151, 201):
        ema.update()
        exact -= (1 - rate(t, 0.9)) * exact
    with ema.swapped():
        found = model.weight.detach().clone()
    expect_equal(found.dtype, dtype, "the dtype of weight within swapped()")
    told = "the average is rounded at each update: keep it in float32"
    close = abs(found.double() / exact - 1).max().item() < 2**-7
    expect_that(close, told, yours=found, wanted=f"{exact:.6f}")


def saved(ema):
    """The state dict, after a trip through a file."""
    file = io.BytesIO()
    torch.save(ema.state_dict(), file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def inside(ema, model):
    with ema.swapped():
        return flat(state_of(model), "parameters"), flat(state_of(model), "buffers")


def resumed(answer, gen, carry):
    """What two runs have in the end, one of which is saved and loaded after two updates."""
    states, model, again = history(gen, 4), network(), network()
    model.load_state_dict(states[0])
    again.load_state_dict(states[0])
    ema, other = answer.WeightEMA(model, 0.75), answer.WeightEMA(again, 0.75)
    for step, state in enumerate(states[1:-1], 1):
        model.load_state_dict(state)
        again.load_state_dict(state)
        ema.update()
        if step > 2:
            other.update()
        elif step == 2:
            other.load_state_dict(carry(ema))
    return states, inside(ema, model), inside(other, again)


@pytest.mark.fine
@pytest.mark.parametrize("way", ["a file", "memory"])
def test_goes_on(answer, gen, way):
    """A new one that loads the state goes on with its averages and its t, and shares no memory."""
    carry = saved if way == "a file" else lambda ema: ema.state_dict()
    states, first, again = resumed(answer, gen, carry)
    wanted = averaged(states, 0.75)
    suspects = {
        "t begins anew: it is a part of the state": lambda: averaged(
            states, 0.75, rate=lambda t, decay: rate(t if t < 3 else t - 2, decay)
        )[0]
    }
    call = f"the averages after four updates, loaded by way of {way} after two"
    expect_close(again[0], wanted[0], call, scale=10.0, suspects=suspects)
    expect_close(again[1], wanted[1], "the buffers after it", scale=10.0)
    expect_close(first[0], wanted[0], "the averages of the run whose state was loaded elsewhere", scale=10.0)


@pytest.mark.fine
def test_model_is_left_alone(answer, gen):
    """update() changes nothing of the model, makes no graph, and nothing that is kept is the model's own."""
    model = network()
    wanted = state_of(model)
    ema = answer.WeightEMA(model, 0.75)
    ema.update()
    expect_state(model, wanted, "after WeightEMA(model) and update()")
    found = [name for name, p in model.named_parameters() if p.grad is not None or not p.requires_grad]
    expect_that(not found, "gradients of the model have changed", yours=", ".join(found))
    graphs = [t for t in tensors(ema.state_dict()) if t.grad_fn is not None]
    expect_that(not graphs, "the averages have a graph: update under torch.no_grad()")


def tensors(state):
    if isinstance(state, torch.Tensor):
        return [state]
    return [t for value in state.values() for t in tensors(value)] if isinstance(state, dict) else []
