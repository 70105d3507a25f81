"""What grades residual_block: both ways, shortcuts, modes, gradients; statistics, dtypes, devices."""

from functools import partial

import pytest
import torch
from torch.nn import functional as F

from grader.checks import expect_equal
from grader.checks.contract import Contract, device, dtypes, gradients, layer, loads, untouched, values


def norm(state, name, y, training):
    mean, var = state[f"{name}.running_mean"], state[f"{name}.running_var"]
    if training:
        var, mean = torch.var_mean(y, (0, 2, 3), correction=0)
    scaled = (y - mean.view(-1, 1, 1)) / (var.view(-1, 1, 1) + 1e-5).sqrt()
    return scaled * state[f"{name}.weight"].view(-1, 1, 1) + state[f"{name}.bias"].view(-1, 1, 1)


def projected(state, x, stride, training, is_normed=True):
    """The shortcut, where there are weights for one."""
    if "downsample.0.weight" not in state:
        return x
    y = F.conv2d(x, state["downsample.0.weight"], None, stride)
    return norm(state, "downsample.1", y, training) if is_normed else y


def written_out(
    state,
    x,
    stride=1,
    training=True,
    *,
    shortcut=projected,
    late=False,
    inner=F.relu,
    early=False,
    outer=F.relu,
    normed=norm,
):
    """The block; what comes after `training` is as people get it wrong."""
    first, second = (1, stride) if late else (stride, 1)
    y = inner(normed(state, "bn1", F.conv2d(x, state["conv1.weight"], None, first, 1), training))
    y = normed(state, "bn2", F.conv2d(y, state["conv2.weight"], None, second, 1), training)
    added = shortcut(state, x, stride, training)
    return y.relu() + added if early else outer(y + added)


def wrong(**how):
    return partial(written_out, **how)


def relu_of_shortcut(state, x, stride, training):
    """What is left of x once a relu has written to it."""
    return projected(state, x.relu(), stride, training)


def block(gen, *shape, filters=None, stride=1, offset=0.0, mode=True):
    def drawn(*sizes, times=1.0):
        return times * torch.randn(sizes, generator=gen)

    channels = shape[1]
    filters = filters or channels
    state = {
        "conv1.weight": drawn(filters, channels, 3, 3, times=0.3),
        "conv2.weight": drawn(filters, filters, 3, 3, times=0.3),
    }
    norms = ["bn1", "bn2"]
    if stride != 1 or filters != channels:
        state["downsample.0.weight"] = drawn(filters, channels, 1, 1)
        norms.append("downsample.1")
    for name in norms:
        state[f"{name}.weight"] = 1 + drawn(filters, times=0.3)
        state[f"{name}.bias"] = drawn(filters)
        state[f"{name}.running_mean"] = drawn(filters)
        state[f"{name}.running_var"] = 0.5 + drawn(filters).abs()
    built = layer(channels, filters, stride, state=state)._replace(training=mode)
    return built(offset + drawn(*shape))


def shortcuts(gen, mode):
    return {
        "x is its own shortcut": block(gen, 3, 4, 5, 6, mode=mode),
        "more filters than channels": block(gen, 2, 2, 6, 5, filters=5, mode=mode),
        "stride=2": block(gen, 3, 4, 6, 8, stride=2, mode=mode),
        "stride=2, of odd sizes, and fewer filters": block(gen, 2, 5, 7, 5, filters=3, stride=2, mode=mode),
    }


def predicting(gen):
    return {f"{about}, in evaluation mode": call for about, call in shortcuts(gen, False).items()} | {
        "a single picture, in evaluation mode": block(gen, 1, 3, 4, 4, filters=2, mode=False)
    }


contract = Contract(
    "ResidualBlock(channels, filters, stride)(x)",
    reference=written_out,
    inputs=lambda gen: shortcuts(gen, True) | predicting(gen),
    dims="batch filters height width",
    ulps=200,
    scale=4.0,
    suspects={
        "relu comes before the sum: it comes behind": wrong(early=True),
        "the sum has no relu": wrong(outer=lambda y: y),
        "relu between the convolutions is missing": wrong(inner=lambda y: y),
        "the shortcut is left out: x is to be added": wrong(shortcut=lambda state, x, stride, training: 0.0),
        "the shortcut is what relu made of x, in place": wrong(shortcut=relu_of_shortcut),
        "the shortcut's convolution has no batch norm": wrong(shortcut=partial(projected, is_normed=False)),
        "stride is conv2's: it should be conv1's": wrong(late=True),
        "no batch norm normalises": wrong(normed=lambda state, name, y, training: y),
    },
    job=[
        values(
            inputs=lambda gen: shortcuts(gen, True),
            title="In training both convolutions, norms, relus and the shortcut are right.",
        ),
        values(inputs=predicting, name="evaluation", title="In evaluation they are right as well."),
        gradients(
            "x conv1.weight bn1.weight bn1.bias conv2.weight bn2.weight bn2.bias",
            inputs=lambda gen: shortcuts(gen, True),
            ulps=2000,
            title="Gradients flow to x, also straight through the sum, and to every parameter.",
        ),
        gradients(
            "x downsample.0.weight downsample.1.weight downsample.1.bias",
            inputs=lambda gen: {"stride=2": block(gen, 3, 4, 6, 8, stride=2)},
            ulps=2000,
            name="gradients_of_downsample",
            title="Gradients flow to the parameters of the shortcut.",
        ),
        untouched(),
        loads(inputs=predicting),
    ],
    fine=[
        dtypes(torch.float64, inputs=predicting, name="float64", title="A block in float64 works in it."),
        device(),
    ],
)


@pytest.mark.fine
def test_statistics(answer, gen):
    """Each batch norm sees each batch once."""
    training = answer.ResidualBlock(2, 3)
    for _ in range(2):
        training(torch.randn(4, 2, 5, 5, generator=gen))
    for name in ("bn1", "bn2", "downsample.1"):
        seen = training.get_submodule(name).num_batches_tracked.item()
        expect_equal(seen, 2, f"the batches that {name} has seen after two calls of ResidualBlock(2, 3)")
