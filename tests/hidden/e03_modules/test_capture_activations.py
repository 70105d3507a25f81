"""What grades capture_activations: outputs of all calls, graphs, hooks; in-place layers, nested outputs."""

from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that, hooks_of, hooks_of_all
from grader.checks.contract import Contract, given, values
from grader.checks.devices import is_simulated
from grader.checks.registered import randomize


class Repeated(nn.Module):
    """One layer under two names, called three times, and a block."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.layers = nn.ModuleList([self.first, nn.Sequential(nn.Linear(3, 4), nn.Tanh())])

    def forward(self, x):
        for _ in range(3):
            x = self.layers[0](x)
        return self.layers[1](x).sum(1)


def made(gen, model):
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            randomize(layer, gen)
    return model


def plain(gen):
    return made(gen, nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Sequential(nn.Linear(4, 2), nn.Sigmoid())))


def collected(model, names, inputs, what=lambda args, output: output):
    """The outputs by name, one after the other; what comes after `inputs` is as people get it wrong."""
    found = {name: [] for name in names}
    for name in names:
        model.get_submodule(name).register_forward_hook(
            lambda m, args, output, name=name: found[name].append(what(args, output).detach().clone())
        )
    for x in inputs:
        model(x)
    return [t for outputs in found.values() for t in outputs]


def captured(answer, model, names, inputs):
    with answer.capture(model, names) as seen:
        for x in inputs:
            model(x)
    return [t for name in names for t in seen[name]]


def call(gen, model, names, calls=1):
    return given(model, names, [torch.randn(5, 3, generator=gen) for _ in range(calls)])


contract = Contract(
    "capture(model, names, inputs)",
    reference=collected,
    use=captured,
    inputs=lambda gen: {
        "two layers": call(gen, plain(gen), ["0", "2.0"]),
        "a block, a layer in it, two calls": call(gen, plain(gen), ["2", "2.1"], calls=2),
        "layers in another order": call(gen, plain(gen), ["2.1", "1", "0"]),
        "a layer that runs three times in a call": call(gen, made(gen, Repeated()), ["first", "layers.1"]),
    },
    suspects={
        "the layer's input is captured, not its output": partial(
            collected, what=lambda args, output: args[0]
        ),
    },
    job=[values(title="Each call of each named layer is captured, in order.")],
    fine=[
        values(
            inputs=lambda gen: {
                "the model itself": call(gen, plain(gen), ["", "0"]),
                "a layer under two names": call(gen, made(gen, Repeated()), ["layers.0", "first"]),
                "the other name of a layer": call(gen, made(gen, Repeated()), ["layers.0"]),
            },
            name="names",
            title='A layer may have two names, and "" is the model.',
        )
    ],
)


def hooks_on(model):
    return [hooks_of(module) for module in model.modules()] + [hooks_of_all()]


def test_no_graph(answer, gen):
    """What is captured holds no graph."""
    model = plain(gen)
    with answer.capture(model, ["0", "2"]) as seen:
        model(torch.randn(5, 3, generator=gen))
    graphs = [name for name, outputs in seen.items() if outputs[0].requires_grad]
    expect_that(not graphs, "captured outputs hold the graph of the call", of=", ".join(graphs))


def test_model_is_undisturbed(answer, gen):
    """Results and gradients of the model are what they would be without capture."""
    model, x = plain(gen), torch.randn(5, 3, generator=gen)
    wanted = model(x)
    right = torch.autograd.grad(wanted.sum(), list(model.parameters()))
    with answer.capture(model, ["0", "2"]):
        yours = model(x)
    expect_close(yours.detach(), wanted.detach(), "model(x) in the block")
    expect_that(yours.requires_grad, "model(x) in the block has no graph: the hook is to return None")
    found = torch.autograd.grad(yours.sum(), list(model.parameters()), allow_unused=True)
    for (name, _), mine, other in zip(model.named_parameters(), found, right, strict=True):
        expect_that(mine is not None, f"{name} gets no gradient from model(x) in the block")
        expect_close(mine, other, f"the gradient for {name} of model(x) in the block")


def test_hooks_are_removed(answer, gen):
    """After the block no hook is left, and later calls are not captured."""
    model, x = plain(gen), torch.randn(5, 3, generator=gen)
    model[0].register_forward_hook(lambda *_: None)
    before = hooks_on(model)
    with answer.capture(model, ["0", "2.1"]) as seen:
        model(x)
    expect_equal(hooks_on(model), before, "the hooks on the model after the block")
    model(x)
    expect_equal(
        [len(seen["0"]), len(seen["2.1"])], [1, 1], "the captured calls, after a call behind the block"
    )


def test_hooks_are_removed_after_an_error(answer, gen):
    """An error in the block comes out, no hook is left, and what was captured can be read."""
    model = plain(gen).append(nn.Linear(7, 1))
    before = hooks_on(model)
    seen, raised = {}, False
    try:
        with answer.capture(model, ["0", "2"]) as seen:
            model(torch.randn(5, 3, generator=gen))
    except RuntimeError:
        raised = True
    expect_that(raised, "the error of a model that raises does not come out of the block")
    expect_equal(hooks_on(model), before, "the hooks on the model after a block that raises")
    expect_equal([len(seen["0"]), len(seen["2"])], [1, 1], "the captured calls of layers before the error")


@pytest.mark.fine
def test_in_place(answer, gen):
    """A layer that writes over its input does not reach what was captured of the layer before."""
    layer = made(gen, nn.Sequential(nn.Linear(3, 4)))[0]
    x = torch.randn(5, 3, generator=gen)
    wanted = layer(x).detach()
    model = nn.Sequential(layer, nn.ReLU(inplace=True))
    with answer.capture(model, ["0"]) as seen:
        model(x)
    likely = {"the ReLU behind it has written over it: detach() shares its memory": wanted.relu}
    expect_close(seen["0"][0], wanted, 'seen["0"][0] with an in-place ReLU behind', suspects=likely)


class Several(nn.Module):
    """Tensors in a dict of a list, a tuple and a tensor."""

    def forward(self, x):
        return {"both": [x, x + 1], "state": (x * 2, (x * 3,)), "last": x - 1}


@pytest.mark.fine
def test_nested_outputs(answer):
    """Tuples, lists and dicts keep their form, and their tensors hold no graph."""
    x = torch.tensor([1.0, 4.0], requires_grad=True)
    model = nn.Sequential(Several())
    with answer.capture(model, ["0"]) as seen:
        model(x * 1)
    plain = x.detach()
    found = seen["0"][0]
    expect_equal(found, Several()(plain), 'seen["0"][0] of a layer that returns a dict')
    tensors = [*found["both"], found["state"][0], *found["state"][1], found["last"]]
    graphs = sum(t.requires_grad for t in tensors)
    expect_equal(graphs, 0, 'the tensors with a graph in seen["0"][0] of a layer that returns a dict')
    with answer.capture(nn.Sequential(lstm := nn.LSTM(2, 3)), ["0"]) as seen:
        output, state = lstm(torch.ones(4, 1, 2))
    wanted = (output.detach(), tuple(t.detach() for t in state))
    expect_equal(seen["0"][0], wanted, 'seen["0"][0] of an LSTM')


@pytest.mark.fine
def test_unknown_name(answer, gen):
    """A name that the model has not raises KeyError, and leaves no hook."""
    model = plain(gen)
    before = hooks_on(model)

    def entered():
        with answer.capture(model, ["0", "2.7"]):
            pass

    expect_raises((KeyError, AttributeError), entered, 'capture(model, ["0", "2.7"])')
    expect_equal(hooks_on(model), before, 'the hooks after capture(model, ["0", "2.7"])')


@pytest.mark.fine
def test_nested_blocks(answer, gen):
    """Blocks may be nested: each has lists of its own, and only its own hooks go."""
    model, x = plain(gen), torch.randn(5, 3, generator=gen)
    with answer.capture(model, ["0"]) as outer:
        model(x)
        with answer.capture(model, ["0", "2"]) as inner:
            model(x)
        model(x)
    found = [len(outer["0"]), len(inner["0"]), len(inner["2"])]
    expect_equal(found, [3, 1, 1], "the calls that an outer and an inner block have captured")


@pytest.mark.fine
def test_device(answer, device):
    """What is captured stays on the device that it was made on."""
    model = nn.Sequential(nn.Linear(3, 2)).to(device)
    with answer.capture(model, ["0"]) as seen:
        model(torch.ones(4, 3, device=device))
    expect_that(is_simulated(seen["0"][0]), 'seen["0"][0] is not on the device of the model')
