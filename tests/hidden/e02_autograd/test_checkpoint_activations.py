"""What grades checkpoint_activations: gradients, memory, runs, dropout; arguments, the random stream."""

import copy

import pytest
import torch
from torch import nn
from torch.nn.functional import embedding, gelu

from grader.checks import (
    expect_close,
    expect_equal,
    expect_gradient,
    expect_gradients,
    expect_that,
    forbid_files,
    held_bytes,
    unchanged,
)


def block(gen, width=4, hidden=6, dropout=0.0):
    """A small feed-forward network with weights from gen."""
    layers = nn.Sequential(
        nn.Linear(width, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, width), nn.Tanh()
    )
    with torch.no_grad():
        for parameter in layers.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=gen) / 2)
    return layers


def expect_same_gradients(mine, plain, call, suspects=lambda name: {}):
    for (name, one), (_, other) in zip(mine.named_parameters(), plain.named_parameters(), strict=True):
        expect_gradient(one.grad, other.grad, f"{name} through {call}", scale=10.0, suspects=suspects(name))


def test_gradients_of_arguments(answer, gen):
    """Gradients for the arguments are those of the function."""
    fn = lambda x, w: (x @ w).tanh().sin() * x.sum()  # noqa: E731
    given, call = [torch.randn(s, generator=gen) for s in ((3, 4), (4, 2))], "checkpoint(fn, x, w)"
    expect_close(
        answer.checkpoint(fn, *(x.requires_grad_() for x in given)).detach(), fn(*given).detach(), call
    )
    mine = lambda x, w: answer.checkpoint(fn, x, w)  # noqa: E731
    expect_gradients(mine, given, fn, gen=gen, call=call, names="x w", scale=10.0)


def test_in_the_middle_of_a_network(answer, gen):
    """Gradients go on behind the arguments, once."""
    fn = lambda x, y: (x * y).exp().sin()  # noqa: E731

    def network(run):
        def forward(w, v):
            x = w.sigmoid() * 2
            y = run(fn, x.t()[::2], v.tanh().expand(2, 3))
            return (y + y.square()) * x.sum()

        return forward

    given = [torch.randn(3, 4, generator=gen), torch.randn(1, 3, generator=gen)]
    plain = network(lambda fn, *args: fn(*args))
    call = "a network with checkpoint(fn, x, y) in its middle"
    w, v = (x.clone().requires_grad_() for x in given)
    network(answer.checkpoint)(w, v).sum().backward()
    right = torch.autograd.grad(plain(*(x.requires_grad_() for x in given)).sum(), given)
    for name, leaf, wanted in zip("wv", (w, v), right, strict=True):
        expect_gradient(leaf.grad, wanted, f"{name} through {call}", scale=100.0)


def expect_trained(answer, gen, required):
    mine = block(gen)
    plain = copy.deepcopy(mine)
    for parameter in (*mine.parameters(), *plain.parameters()):
        parameter.grad = torch.ones_like(parameter)  # gradients are added to what is there
    x = torch.randn(3, 4, generator=gen)
    plain(x).square().sum().backward()
    y = answer.checkpoint(mine, x.requires_grad_(required))
    call = f"checkpoint(block, x), x.requires_grad={required}"
    expect_that(y.requires_grad, f"no gradient flows through {call}", yours=y)
    y.square().sum().backward()
    expect_same_gradients(mine, plain, call)


def test_gradients_of_parameters(answer, gen):
    """Parameters inside the function get their gradients."""
    expect_trained(answer, gen, True)


def test_same_dropout_mask(answer, gen):
    """The second run uses the dropout mask of the first, whatever is drawn in between."""
    mine = block(gen, width=8, hidden=16, dropout=0.5)
    plain = copy.deepcopy(mine)
    x = torch.randn(3, 8, generator=gen).requires_grad_()
    torch.manual_seed(11)
    plain(x).sum().backward()
    torch.manual_seed(11)
    yours = answer.checkpoint(mine, x)
    torch.randn(100)
    between = torch.get_rng_state()
    yours.sum().backward()

    def second_run(state, name):
        """The gradient where the second run draws from this state."""
        other = copy.deepcopy(plain)
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(state)
            return torch.autograd.grad(other(x).sum(), other.get_parameter(name))[0]

    def suspects(name):
        told = "the second run draws other numbers: set the random state that the first began with"
        return {told: lambda: second_run(between, name)}

    expect_same_gradients(mine, plain, "checkpoint(block, x) with dropout", suspects)


def test_nothing_is_held(answer, gen):
    """Between forward and backward the activations are gone."""
    layers, x = block(gen, width=128, hidden=256), torch.randn(64, 128, generator=gen).requires_grad_()
    held, allowed = held_bytes(lambda: answer.checkpoint(layers, x)), 2 * x.nbytes + 12_000
    expect_that(
        held <= allowed,
        "checkpoint(block, x) holds what block computes until backward",
        yours=f"{held:,} bytes (block(x) by itself: {held_bytes(lambda: layers(x)):,})",
        wanted=f"at most {allowed:,} bytes",
        likely="activations are kept, by autograd or by a variable",
    )


def test_own_work(answer, gen):
    """The work is not done by torch.utils.checkpoint."""
    layers, x = block(gen), torch.randn(3, 4, generator=gen).requires_grad_()
    with forbid_files("checkpoint(fn, x)", "torch/utils/checkpoint.py"):
        answer.checkpoint(layers, x)


@pytest.mark.fine
def test_no_argument_requires_a_gradient(answer, gen):
    """Parameters get their gradients where no argument requires one; frozen ones stop nobody behind them."""
    expect_trained(answer, gen, False)
    frozen, scale = block(gen).requires_grad_(False), torch.tensor(2.0, requires_grad=True)
    x = torch.randn(3, 4, generator=gen)
    (answer.checkpoint(frozen, x) * scale).sum().backward()
    expect_gradient(scale.grad, frozen(x).sum(), "what comes after a frozen checkpoint(block, x)", scale=10.0)


@pytest.mark.fine
def test_any_arguments(answer, gen):
    """Arguments of every kind reach the function, in order: ids, plain values, a tensor twice."""
    ids = torch.tensor([2, 0, 2])

    def fn(table, ids, nothing, power, kind, again):
        expect_equal((nothing, power, kind), (None, 3, "gelu"), "the plain values that fn is called with")
        return gelu(embedding(ids, table)) ** power * again.sum()

    table = torch.randn(3, 4, generator=gen)
    expect_gradients(
        lambda t: answer.checkpoint(fn, t, ids, None, 3, "gelu", t),
        [table],
        lambda t: fn(t, ids, None, 3, "gelu", t),
        gen=gen,
        call="checkpoint(fn, table, ids, …, table)",
        names="table",
        scale=50.0,
    )


@pytest.mark.fine
def test_arguments_are_left_alone(answer, gen):
    """Arguments keep their values and requires_grad; what needs no gradient, or is not used, gets none."""
    x, y, idle = (torch.randn(3, 4, generator=gen) for _ in range(3))
    x.requires_grad_(), idle.requires_grad_()
    with unchanged("checkpoint(fn, x, y, idle) and its backward", x=x, y=y, idle=idle):
        answer.checkpoint(lambda x, y, idle: (x * y).sin(), x, y, idle).sum().backward()
    expect_that(y.grad is None, "y requires no gradient, and gets one", grad=y.grad)
    expect_that(not y.requires_grad, "y requires a gradient afterwards, and did not before")
    told = "idle, an argument that fn does not use, has a gradient"
    expect_that(idle.grad is None, told, yours=idle.grad, wanted="None, as after fn(x, y, idle)")


@pytest.mark.fine
def test_no_copies(answer, gen):
    """The arguments are held themselves, not copies of them."""
    layers = block(gen, width=128, hidden=256, dropout=0.1)
    for x in (torch.randn(64, 128, generator=gen), torch.randn(128, 64, generator=gen).t()):
        held = held_bytes(lambda x=x: answer.checkpoint(layers, x.requires_grad_()))
        told, wanted = "checkpoint(block, x) holds more than x, the result and 12 kB", x.nbytes + 12_000
        expect_that(
            held <= wanted,
            told,
            yours=f"{held:,} bytes beside x",
            wanted=f"at most {wanted:,}",
            likely="the arguments are copied",
        )


@pytest.mark.fine
def test_without_gradients(answer, gen):
    """With gradients switched off, the function runs once, and the result requires none."""
    layers, x = block(gen), torch.randn(3, 4, generator=gen).requires_grad_()
    runs = []
    layers.register_forward_pre_hook(lambda *_: runs.append(torch.is_grad_enabled()))
    with torch.no_grad():
        y = answer.checkpoint(layers, x)
    expect_that(not y.requires_grad, "checkpoint(block, x) under no_grad requires a gradient", yours=y)
    expect_equal(runs, [False], "whether gradients are on, in each run of block under no_grad")


@pytest.mark.fine
def test_random_stream(answer, gen):
    """Nobody's random numbers change: forward draws what fn draws, and backward leaves no trace."""
    layers, x = block(gen, dropout=0.5), torch.randn(3, 4, generator=gen).requires_grad_()
    torch.manual_seed(11)
    layers(x)
    wanted = torch.get_rng_state()
    torch.manual_seed(11)
    y = answer.checkpoint(layers, x)
    told = "after checkpoint(block, x), the global random generator is not where block(x) leaves it"
    expect_that(torch.equal(torch.get_rng_state(), wanted), told)
    torch.randn(7)
    before = torch.get_rng_state()
    y.sum().backward()
    expect_that(
        torch.equal(torch.get_rng_state(), before),
        "backward through checkpoint(block, x) moves the global random generator",
        likely="the old random state is set for the second run, and the present one not set again",
    )


@pytest.mark.fine
def test_one_block_after_the_other(answer, gen):
    """Two checkpoints, of which the first goes backward first, train like plain blocks."""
    mine = nn.ModuleList([block(gen, dropout=0.3), block(gen, dropout=0.3)])
    plain = copy.deepcopy(mine)
    x = torch.randn(3, 4, generator=gen).requires_grad_()
    for run, blocks in ((lambda fn, *args: fn(*args), plain), (answer.checkpoint, mine)):
        torch.manual_seed(6)
        results = [run(one, x) for one in blocks]
        for result in results:
            result.square().sum().backward()
    expect_same_gradients(mine, plain, "two checkpoints, the first one first")


def oracle(answer, gen):
    def run(gen, dropout):
        layers, x = block(gen, dropout=dropout), torch.randn(3, 4, generator=gen).requires_grad_()
        torch.manual_seed(3)
        return layers, x, answer.checkpoint(layers, x * 2)

    def result(dropout):
        return lambda gen: run(gen, dropout)[2].detach()

    def gradients(dropout, inside):
        def case(gen):
            layers, x, y = run(gen, dropout)
            y.square().sum().backward()
            return [p.grad for p in layers.parameters()] if inside else x.grad

        return case

    return {
        "a block's result": result(0.0),
        "the gradient of a block's input": gradients(0.0, False),
        "the gradients of a block's parameters": gradients(0.0, True),
        "the result with dropout": result(0.5),
        "the gradient of the input with dropout": gradients(0.5, False),
        "the gradients of the parameters with dropout": gradients(0.5, True),
    }
