"""What grades checkpoint_activations: gradients, memory, number of runs, random numbers, arguments."""

import contextlib
import copy
import sys

import torch
from torch import nn
from torch.nn.functional import embedding, gelu

from grader.checks import (
    expect_close,
    expect_equal,
    expect_gradient,
    expect_gradients,
    expect_that,
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
        graph = one.grad is not None and one.grad.requires_grad
        expect_that(not graph, f"the gradient of {name} carries a graph of its own after {call}")
        expect_gradient(one.grad, other.grad, f"{name} through {call}", scale=10.0, suspects=suspects(name))


def test_gradients_of_arguments(answer, gen):
    """Gradients for the arguments are those of the function, in both dtypes."""
    fn = lambda x, w: (x @ w).tanh().sin() * x.sum()  # noqa: E731
    for dtype in (torch.float32, torch.float64):
        x, w = (torch.randn(s, generator=gen, dtype=torch.float64).to(dtype) for s in ((3, 4), (4, 2)))
        given, call = [x, w], f"checkpoint(fn, x, w) in {dtype}"
        expect_close(answer.checkpoint(fn, x, w), fn(x, w), call)
        mine = lambda x, w: answer.checkpoint(fn, x, w)  # noqa: E731
        expect_gradients(mine, given, fn, gen=gen, call=call, names="x w", scale=10.0)

    wanted = torch.autograd.grad(fn(x.requires_grad_(), w.requires_grad_()).sum(), [x, w])
    answer.checkpoint(fn, x, w).sum().backward()
    for name, leaf, right in zip("xw", (x, w), wanted, strict=True):
        expect_gradient(leaf.grad, right, f"{name} through {call}, after backward()", scale=10.0)
    z = torch.randn(3, generator=gen, dtype=torch.complex64).requires_grad_()
    power = lambda z: (z * (1 + 2j)).abs().square()  # noqa: E731
    answer.checkpoint(power, z).sum().backward()
    expect_that(z.grad is not None, "no gradient flows through checkpoint(fn, z) to a complex z")
    wanted = torch.view_as_real(10 * z.detach())
    expect_close(torch.view_as_real(z.grad), wanted, "the gradient of a complex z", scale=10.0)


def test_in_the_middle_of_a_network(answer, gen):
    """Gradients go on behind the arguments, once, also through strided and expanded ones."""
    fn = lambda x, y, factor: (x * y).exp().sin() * factor  # noqa: E731

    def network(run):
        def forward(w, v):
            x = w.sigmoid() * 2
            y = run(fn, x.t()[::2], v.tanh().expand(2, 3), v.sum())
            return (y + y.square()) * x.sum()

        return forward

    given = [torch.randn(3, 4, generator=gen), torch.randn(1, 3, generator=gen)]
    plain = network(lambda fn, *args: fn(*args))
    call = "a network with checkpoint(fn, x, y) in its middle"
    expect_gradients(network(answer.checkpoint), given, plain, gen=gen, call=call, names="w v", scale=100.0)

    w = given[0].requires_grad_()
    plain(w, given[1]).sum().backward()
    wanted, w.grad = w.grad, None
    network(answer.checkpoint)(w, given[1]).sum().backward()
    expect_gradient(w.grad, wanted, f"w through {call}, after backward()", scale=100.0)


def test_gradients_of_parameters(answer, gen):
    """Parameters inside the function get their gradients, whether or not an argument requires one."""
    for required in (True, False):
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

    scale, x = torch.tensor([2.0, -1.0, 0.5, 3.0], requires_grad=True), x.detach()
    for required in (True, False):
        scale.grad = None
        answer.checkpoint(lambda x: (x * scale).sum(0), x.requires_grad_(required)).sum().backward()
        call = f"checkpoint(lambda x: (x * scale).sum(0), x), x.requires_grad={required}"
        expect_that(scale.grad is not None, f"no gradient for a parameter that a lambda uses: {call}")
        expect_gradient(scale.grad, x.detach().sum(0), f"scale through {call}", scale=10.0)

    frozen, scale = block(gen).requires_grad_(False), torch.tensor(2.0, requires_grad=True)
    runs = []
    answer.checkpoint(lambda: runs.append(1) or scale.square()).backward()
    expect_gradient(scale.grad, torch.tensor(4.0), "scale through checkpoint(fn), where fn takes no argument")
    expect_equal(len(runs), 2, "the number of runs of checkpoint(fn) without arguments, and its backward")
    scale.grad = None
    wanted = frozen(x).sum()
    (answer.checkpoint(frozen, x) * scale).sum().backward()
    expect_gradient(
        scale.grad, wanted, "what comes after checkpoint(block, x), where all in it is frozen", scale=10.0
    )
    flags = {p.requires_grad for p in frozen.parameters()}
    expect_equal(flags, {False}, "requires_grad of frozen parameters after checkpoint(block, x) and backward")


def test_any_arguments(answer, gen):
    """Arguments of every kind reach the function, in order: ids, masks, plain values, a tensor twice."""
    ids, mask = torch.tensor([2, 0, 2], dtype=torch.int32), torch.tensor([1, 0, 1], dtype=torch.uint8)
    seen = []

    def fn(table, ids, mask, nothing, power, kind, sizes, off, again):
        seen.append((nothing, power, kind, sizes, off, ids.dtype, mask.dtype))
        rows = gelu(embedding(ids, table)) ** power
        return rows.masked_fill(mask[:, None] == 0, 0.0) * again.sum()

    table = torch.randn(3, 4, generator=gen)
    expect_gradients(
        lambda t: answer.checkpoint(fn, t, ids, mask, None, 3, "gelu", (3, 4), False, t),
        [table],
        lambda t: fn(t, ids, mask, None, 3, "gelu", (3, 4), False, t),
        gen=gen,
        call="checkpoint(fn, table, ids, mask, …, table)",
        names="table",
        scale=50.0,
    )
    wanted = (None, 3, "gelu", (3, 4), False, torch.int32, torch.uint8)
    expect_equal(seen, [wanted] * len(seen), "the plain values, and two dtypes, that fn is called with")


def test_arguments_are_left_alone(answer, gen):
    """Arguments keep their values, their requires_grad and, where they require none, no gradient."""
    x, y, w = (torch.randn(3, 4, generator=gen) for _ in range(3))
    w.requires_grad_()
    inner, one, idle = w * 2, torch.tensor([2.0]), torch.ones(2, requires_grad=True)
    seen = []

    def fn(x, y, z, one, idle):  # an argument may be idle
        seen.append((x.requires_grad, y.requires_grad, one.requires_grad))
        return (x * y).sin() * z.exp() * one

    with unchanged("checkpoint(fn, x, y, z) and its backward", x=x, y=y, z=inner, one=one, idle=idle):
        answer.checkpoint(fn, x, y, inner, one, idle).sum().backward()
    for name, tensor in (("x", x), ("y", y), ("one", one)):
        expect_that(tensor.grad is None, f"{name} requires no gradient, and gets one", grad=tensor.grad)
    expect_that(
        idle.grad is None,
        "idle, an argument that fn does not use, has a gradient",
        yours=idle.grad,
        wanted="None, as after fn(x, y, z, one, idle)",
    )
    wanted = [(False, False, False)] * 2
    expect_equal(seen, wanted, "requires_grad of x, y and one, which need no gradient, in both runs of fn")


def test_nothing_is_held(answer, gen):
    """Between forward and backward nothing is held but the arguments, the result and a random state."""
    layers, x = block(gen, width=128, hidden=256, dropout=0.1), torch.randn(64, 128, generator=gen)
    allowed = x.nbytes + 12_000
    for required in (True, False):
        x.requires_grad_(required)
        held = held_bytes(lambda: answer.checkpoint(layers, x))
        expect_that(
            held <= allowed,
            "checkpoint(block, x) holds more than the result and a random state until backward",
            yours=f"{held:,} bytes (block(x) by itself: {held_bytes(lambda: layers(x)):,})",
            wanted=f"at most {allowed:,} bytes, {x.nbytes:,} of them for the result",
            likely="activations are kept, by autograd or by a variable, or the arguments are copied",
        )
    turned = torch.randn(128, 64, generator=gen).t().requires_grad_()
    held = held_bytes(lambda: answer.checkpoint(layers, turned))
    expect_that(
        held <= allowed,
        "checkpoint(block, x) holds more than the result and a random state where x is transposed",
        yours=f"{held:,} bytes",
        wanted=f"at most {allowed:,} bytes",
        likely="the arguments are copied to make them contiguous",
    )


def test_number_of_runs(answer, gen):
    """The function runs once in forward, and once in backward, however many tensors backward needs."""
    layers, x = block(gen, dropout=0.5), torch.randn(3, 4, generator=gen)
    runs = []
    layers.register_forward_pre_hook(lambda *_: runs.append(layers.training))
    for mode in (True, False):
        runs.clear()
        y = answer.checkpoint(layers.train(mode), x)
        expect_equal(runs, [mode], f"the modes of the runs after forward, training={mode}")
        y.sum().backward()
        expect_equal(runs, [mode] * 2, f"the modes of the runs after backward, training={mode}")
        expect_equal(layers.training, mode, f"the mode afterwards, training={mode}")


def test_without_gradients(answer, gen):
    """With gradients switched off, the function runs once, and the result requires none."""
    layers, x = block(gen), torch.randn(3, 4, generator=gen).requires_grad_()
    runs = []
    layers.register_forward_pre_hook(lambda *_: runs.append(torch.is_grad_enabled()))
    wanted = layers(x).detach()
    runs.clear()
    with torch.no_grad():
        y = answer.checkpoint(layers, x)
        expect_that(not torch.is_grad_enabled(), "checkpoint(block, x) switches gradients on")
    expect_that(not y.requires_grad, "checkpoint(block, x) under no_grad requires a gradient", yours=y)
    expect_close(y, wanted, "checkpoint(block, x) under no_grad")
    expect_equal(len(runs), 1, "the number of runs under no_grad")
    expect_that(not runs[0], "checkpoint(block, x) switches gradients on for the run of block under no_grad")


def test_same_dropout_mask(answer, gen):
    """The second run uses the dropout mask of the first, whatever is drawn in between."""
    mine = block(gen, width=8, hidden=16, dropout=0.5)
    plain = copy.deepcopy(mine)
    x = torch.randn(3, 8, generator=gen)
    torch.manual_seed(11)
    wanted = plain(x)
    wanted.sum().backward()
    torch.manual_seed(11)
    yours = answer.checkpoint(mine, x)
    after = torch.get_rng_state()
    torch.randn(100)
    between = torch.get_rng_state()
    yours.sum().backward()
    expect_close(yours.detach(), wanted.detach(), "checkpoint(block, x) with dropout")

    def second_run(state, name):
        """The gradient where the second run draws from this state."""
        other = copy.deepcopy(plain)
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(state)
            return torch.autograd.grad(other(x).sum(), other.get_parameter(name))[0]

    def suspects(name):
        return {
            "the second run draws other numbers: set the random state of the first": lambda: second_run(
                between, name
            ),
            "the random state is read after the first run: read it before": lambda: second_run(after, name),
        }

    expect_same_gradients(mine, plain, "checkpoint(block, x) with dropout", suspects)
    weight = torch.randn(8, generator=gen).requires_grad_()

    class Noise(nn.Module):
        def forward(self, x):
            return torch.rand(8) * x * weight

    noise = "a module in evaluation mode that draws"
    for fn, about in ((lambda x: torch.rand(8) * x * weight, "lambda x: …"), (Noise().eval(), noise)):
        weight.grad = None
        y = answer.checkpoint(fn, torch.ones(8))
        torch.randn(100)
        drawn = y.detach() / weight.detach()
        y.sum().backward()
        call = f"checkpoint(fn, x), where fn is {about} torch.rand(8) * x * weight"
        expect_gradient(weight.grad, drawn, f"a weight through {call}")


def test_random_stream(answer, gen):
    """Nobody's random numbers change: forward draws what fn draws, and backward leaves no trace."""
    layers, x = block(gen, dropout=0.5), torch.randn(3, 4, generator=gen).requires_grad_()
    for seed in (11, 12):
        torch.manual_seed(seed)
        layers(x)
        wanted = torch.get_rng_state()
        torch.manual_seed(seed)
        y = answer.checkpoint(layers, x)
        expect_that(
            torch.equal(torch.get_rng_state(), wanted),
            "after checkpoint(block, x), the global random generator is not where block(x) leaves it",
        )
        torch.randn(7) if seed == 11 else torch.manual_seed(seed)
        before = torch.get_rng_state()
        y.sum().backward()
        expect_that(
            torch.equal(torch.get_rng_state(), before),
            "backward through checkpoint(block, x) moves the global random generator",
            likely="the old random state is set for the second run, and the present one not set again",
        )
    runs = []

    def failing(x):
        runs.append(1)
        if len(runs) == 2:
            raise ArithmeticError("not again")
        return x * torch.rand(3, 4)

    y = answer.checkpoint(failing, x)
    before = torch.get_rng_state()
    with contextlib.suppress(ArithmeticError):
        y.sum().backward()
    expect_that(
        torch.equal(torch.get_rng_state(), before),
        "a backward in which fn raises an error moves the global random generator",
    )


def test_one_block_after_the_other(answer, gen):
    """Checkpointed blocks with dropout, one of them used twice, train like plain ones."""
    mine = nn.ModuleList([block(gen, dropout=0.3), block(gen, dropout=0.3)])
    plain = copy.deepcopy(mine)
    x = torch.randn(3, 4, generator=gen)

    def loss(blocks, run):
        torch.manual_seed(5)
        y = x
        for index in (0, 1, 0):
            y = y + run(blocks[index], y)
        return y.square().mean()

    wanted = loss(plain, lambda fn, *args: fn(*args))
    wanted.backward()
    yours = loss(mine, answer.checkpoint)
    yours.backward()
    call = "three checkpoints of two blocks"
    expect_close(yours.detach(), wanted.detach(), call)
    expect_same_gradients(mine, plain, call)
    for run, blocks in ((lambda fn, *args: fn(*args), plain), (answer.checkpoint, mine)):
        torch.manual_seed(6)
        results = [run(blocks[index], x) for index in (0, 1)]
        blocks.zero_grad()
        results[0].square().sum().backward()  # the first first: not the order that one network has
        results[1].square().sum().backward()
    expect_same_gradients(mine, plain, "two checkpoints, the first one first")


def test_own_work(answer, gen):
    """The work is not done by torch.utils.checkpoint."""
    layers, x = block(gen), torch.randn(3, 4, generator=gen).requires_grad_()
    files = set()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, arg: files.add(frame.f_code.co_filename.replace("\\", "/")))
    try:
        answer.checkpoint(layers, x)
    finally:
        sys.setprofile(before)
    expect_that(
        not any(file.endswith("torch/utils/checkpoint.py") for file in files),
        "checkpoint(fn, x) uses torch.utils.checkpoint, which the statement rules out",
    )


def oracle(answer, gen):
    layers, x = block(gen, dropout=0.5), torch.randn(3, 4, generator=gen).requires_grad_()
    torch.manual_seed(3)
    y = answer.checkpoint(layers, x * 2)
    between = torch.randn(3)
    y.sum().backward()
    return [y.detach(), x.grad, [p.grad for p in layers.parameters()], between, torch.randn(3)]
