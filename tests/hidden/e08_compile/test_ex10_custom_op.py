"""What grades scan: values, gradients of both orders, opcheck, the graph, meta tensors, memory."""

import contextlib
import importlib.util
import itertools
import random
import warnings

import pytest
import torch
from torch.library import opcheck

from grader.checks import (
    CheckFailure,
    count_operations,
    expect_close,
    expect_equal,
    expect_gradients,
    expect_raises,
    expect_that,
    shares_storage,
    unchanged,
)
from grader.checks.compile.graphs import compiled, expect_compiles
from grader.checks.distributed import run_ranks


def warm_up():
    """Make torch import what its first `opcheck` needs, without a backward: this process forks."""
    opcheck(torch.ops.aten.sin.default, (torch.ones(2),))
    torch.compiler.reset()


SHAPES = [(5,), (3, 7), (2, 3, 4), (4, 1), (1,), (0, 3), (2, 0), (0,), (2, 1, 3, 5)]


def right(x, decay, reverse=False):
    """The recurrence, step by step, which autograd can derive."""
    state, states = torch.zeros_like(x.sum(-1)), []
    for t in range(x.shape[-1])[:: -1 if reverse else 1]:
        state = decay[..., t] * state + x[..., t]
        states.append(state)
    return torch.stack(states[:: -1 if reverse else 1], dim=-1) if states else x.clone()


def drawn(gen, shape, dtype=torch.float32):
    x = torch.randn(shape, generator=gen, dtype=torch.float64)
    decay = torch.rand(shape, generator=gen, dtype=torch.float64) * 1.6 - 0.6
    decay.view(-1)[1::5] = 0
    return x.to(dtype), decay.to(dtype)


def expect_opcheck(op, args, call, **options):
    """Fail, with what it says, unless `opcheck` passes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            opcheck(op, args, **options)
    except NotImplementedError:
        raise
    except Exception as error:
        said = [line for line in str(error).splitlines() if line.strip()]
        text = "\n          ".join(line[:160] for line in said[:4])
        raise CheckFailure(f"opcheck fails on {call}\n  yours   {text}") from None


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values(answer, gen, shape):
    """States are right in both directions and dtypes, for all shapes, and inputs stay as they are."""
    for dtype in (torch.float32, torch.float64):
        x, decay = drawn(gen, shape, dtype)
        for reverse in (False, True):
            wanted = right(x.double(), decay.double(), reverse).to(dtype)
            call = f"scan(x, decay, {reverse}) of shape {shape}"
            with unchanged(call, x=x, decay=decay):
                yours = answer.scan(x, decay, reverse)
            expect_close(yours, wanted, call, scale=10.0)
    expect_close(answer.scan(x, decay), right(x, decay), f"scan(x, decay) of shape {shape}", scale=10.0)
    x.view(-1)[::3] = torch.nan
    call = f"scan(x, decay) of shape {shape}, where x holds NaN"
    expect_close(answer.scan(x, decay), right(x, decay), call, scale=10.0)


def test_strides(answer, gen):
    """Permuted, sliced and expanded inputs give the same states, in contiguous memory."""
    x, decay = drawn(gen, (4, 6, 3))
    for name, pair in {
        "permuted": (x.permute(2, 0, 1), decay.permute(2, 0, 1)),
        "with time first in memory": (x.transpose(0, 2), decay.transpose(0, 2).contiguous()),
        "sliced": (x[1:3, ::2, :2], decay[1:3, ::2, :2]),
        "a single step, transposed": (x[..., :1].transpose(0, 1), decay[..., 1:2].transpose(0, 1)),
        "expanded": (x[:1].expand(5, 6, 3), decay[..., :1].expand(4, 6, 3)[:1].expand(5, 6, 3)),
    }.items():
        for reverse in (False, True):
            wanted = right(*(t.double() for t in pair), reverse).float()
            yours = answer.scan(*pair, reverse)
            call = f"scan(x, decay, {reverse}), {name}"
            expect_close(yours, wanted, call, scale=10.0)
            expect_that(
                yours.is_contiguous(),
                f"the result of {call}, is not contiguous",
                yours=f"strides {yours.stride()} for shape {tuple(yours.shape)}",
            )


@pytest.mark.parametrize("reverse", [False, True])
def test_gradients(answer, gen, reverse):
    """Gradients of first order are right for x and decay, also where the result is read in another order."""
    for shape in SHAPES:
        expect_gradients(  # in backward, the gradient has the strides of the transposed result
            lambda x, decay: answer.scan(x, decay, reverse).movedim(-1, 0),
            drawn(gen, shape),
            lambda x, decay: right(x, decay, reverse).movedim(-1, 0),
            gen=gen,
            call=f"scan(x, decay, {reverse}).movedim(-1, 0) of shape {shape}",
            names="x decay",
            scale=30.0,
        )


@pytest.mark.parametrize("reverse", [False, True])
def test_second_order(answer, gen, reverse):
    """Gradients of gradients are right."""
    for shape in [(5,), (2, 4), (3, 1)]:
        expect_gradients(
            lambda x, decay: answer.scan(x, decay, reverse).square(),
            drawn(gen, shape, torch.float64),
            lambda x, decay: right(x, decay, reverse).square(),
            gen=gen,
            call=f"scan(x, decay, {reverse})² of shape {shape}",
            names="x decay",
            second_order=True,
            scale=1000.0,
        )


def test_each_alone(answer, gen):
    """Gradients are right where only one of x and decay requires one."""
    x, decay = drawn(gen, (3, 5), torch.float64)
    for name, given, fn in (
        ("x", x, lambda f: lambda x: f(x, decay)),
        ("decay", decay, lambda f: lambda decay: f(x, decay)),
    ):
        call = f"scan(x, decay) where only {name} requires a gradient"
        expect_gradients(fn(answer.scan), [given], fn(right), gen=gen, call=call, names=name, scale=30.0)


def test_decay_is_watched(answer, gen):
    """If decay is changed in place before backward, backward raises instead of giving wrong gradients."""
    x, decay = drawn(gen, (3, 5))
    y = answer.scan(x.requires_grad_(), decay)
    decay.fill_(1)
    call = "backward after decay was changed in place (saved other than by ctx.save_for_backward?)"
    expect_raises(RuntimeError, lambda: y.sum().backward(), call)


@pytest.mark.parametrize("changed", ["x", "the result"])
def test_others_are_watched(answer, gen, changed):
    """If x or the result has been changed in place, backward raises as well, unless it has no need of it."""
    x, decay = drawn(gen, (3, 5))
    (wanted,) = torch.autograd.grad(right(x, decay.requires_grad_()).sum(), [decay])
    y = answer.scan(x, decay)
    with torch.no_grad():
        (x if changed == "x" else y).fill_(1)
    with contextlib.suppress(RuntimeError):
        (gradient,) = torch.autograd.grad(y.sum(), [decay])
        what = f"the gradient of decay, where {changed} was changed in place and backward does not raise"
        expect_close(gradient, wanted, what, scale=10.0)


OPCHECKS = {
    "forwards": ((3, 5), False),
    "in reverse, one dimension": ((4,), True),
}


@pytest.mark.parametrize("name", OPCHECKS)
def test_opcheck(answer, gen, name):
    """`torch.library.opcheck` finds nothing wrong."""
    shape, reverse = OPCHECKS[name]
    args = (*(t.requires_grad_() for t in drawn(gen, shape)), reverse)
    expect_opcheck(answer.scan, args, f"scan(x, decay, {reverse}) of shape {shape}")


def test_fake_kernel(answer, gen):
    """The fake kernel tells shape, dtype and strides of what the operator returns, for all inputs."""
    x, decay = drawn(gen, (4, 6, 3))
    for name, args in {
        "permuted inputs": (x.permute(2, 0, 1), decay.permute(2, 0, 1)),
        "expanded inputs": (x[:1].expand(5, 6, 3), decay[:1].expand(5, 6, 3), True),
        "float64": (x.double(), decay.double()),
        "a single step": (x[..., :1], decay[..., :1]),
        "no steps": (x[..., :0], decay[..., :0]),
        "an empty batch": (x[:0], decay[:0], True),
    }.items():
        tests = ("test_schema", "test_faketensor")
        expect_opcheck(answer.scan, args, f"scan(x, decay), {name}", test_utils=tests)


def test_meta(answer):
    """On meta, a meta tensor of the right shape, dtype and strides comes back, of any size."""
    for shape, dtype in (((3, 5), torch.float32), ((2, 0), torch.float64), ((10**6, 10**6), torch.float32)):
        x = torch.empty(shape, dtype=dtype, device="meta")
        yours = answer.scan(x.t().contiguous().t(), x, True)
        wanted = (shape, dtype, "meta", x.stride())
        facts = (tuple(yours.shape), yours.dtype, yours.device.type, yours.stride())
        expect_equal(facts, wanted, f"shape, dtype, device and strides of scan on meta, {shape}")


def test_one_node(answer, gen):
    """In the graph it is one node, however long the time."""
    for time in (3, 40):
        x, decay = drawn(gen, (2, time))
        with compiled(lambda x, decay: answer.scan(x, decay, True), "scan(x, decay, True)") as captured:
            yours = captured(x, decay)
        expect_close(yours, right(x, decay, True), "the compiled scan(x, decay, True)", scale=10.0)
        nodes = [
            str(n.target) for graph in captured.graphs for n in graph.graph.nodes if n.op.startswith("call")
        ]
        expect_equal(len(nodes), 1, f"the number of nodes in the graph of scan, {time} steps")
        expect_that("aten" not in nodes[0], "scan is not in the graph", yours=nodes[0])


def test_compiled(answer, gen):
    """Compiled, it has the same results and gradients; one graph serves many sizes."""
    batches = [drawn(gen, shape) for shape in ((3, 5), (4, 9), (2, 30))]
    for batch in batches:
        for t in batch:
            t.requires_grad_()

    def layer(x, decay):
        return answer.scan(x * 2, decay.sigmoid()) + answer.scan(x, decay, reverse=True)

    expect_compiles(layer, batches, "scan(x * 2, decay.sigmoid()) + scan(x, decay, True)", dynamic=True)


def test_flat_cost(answer, gen):
    """A call and its backward take the same number of operations for any time."""
    counts = {}
    for time in (4, 60):
        x, decay = (t.requires_grad_() for t in drawn(gen, (2, time)))
        forward = sum(count_operations(lambda x=x, decay=decay: answer.scan(x, decay)).values())
        y = answer.scan(x, decay).sum()
        backward = sum(count_operations(y.backward).values())
        counts[time] = (forward, backward)
    expect_that(
        abs(counts[60][0] - counts[4][0]) < 5 and abs(counts[60][1] - counts[4][1]) < 5,
        "the number of operations of scan(x, decay) grows with time",
        yours=f"{counts[4]} in forward and backward of 4 steps, {counts[60]} of 60",
        wanted="the same number: forward and backward are one call of an operator",
    )


def test_own_memory(answer, gen):
    """The result has memory of its own, also where it has the values of x."""
    for shape in ((3, 1), (1,), (2, 4)):
        for reverse in (False, True):
            x, decay = drawn(gen, shape)
            decay.zero_()
            yours = answer.scan(x, decay, reverse)
            call = f"scan(x, zeros, {reverse}) of shape {shape}"
            expect_close(yours, x.clone(), call)
            shared = shares_storage(yours, x) or shares_storage(yours, decay)
            expect_that(not shared, f"the result of {call} shares memory with an input")
            kept = x.clone()
            yours.add_(1)
            expect_equal(x, kept, f"x, after writing to the result of {call}")


def import_again(_rank, _world_size, first):
    """What is wrong after more imports, and results of all. In a process of its own: it may crash."""
    spec = importlib.util.spec_from_file_location(first.__name__, first.__file__)
    modules = [first]
    for _ in range(2):
        random.seed(0)  # as the first cell of a notebook does, each time
        torch.manual_seed(0)
        modules.append(importlib.util.module_from_spec(spec))
        try:
            spec.loader.exec_module(modules[-1])
        except Exception as error:
            return f"it raises {type(error).__name__}: {str(error).strip()[:200]}", []
    torch.set_default_dtype(torch.float32)  # the file may set another
    ops = [module.scan for module in modules]
    for a, b in itertools.combinations(ops, 2):
        if a is not b and str(a) == str(b):  # an operator is shown by its name
            return f"{a} is registered anew, which ends the operator of an earlier import", []
    results = []
    for module in (*modules, first):
        x, decay = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([0.5, 0.5, 0.25], requires_grad=True)
        y = module.scan(x, decay)
        results.append((y.detach(), *torch.autograd.grad(y.sum(), decay)))
    return "", results


@pytest.mark.multi_process
def test_imported_again(answer):
    """The file can be imported again in one process, and the operators of all imports work."""
    ((trouble, results),) = run_ranks(1, import_again, answer=answer, init=False)
    expect_that(not trouble, "the file cannot be imported a second time", yours=trouble)
    for number, (states, gradient) in enumerate(results):
        which = ("the first", "the second", "the third", "again the first")[number]
        expect_close(states, torch.tensor([1.0, 2.5, 4.625]), f"scan(x, decay) of {which} import")
        wanted = torch.tensor([0.0, 1.25, 2.5])
        expect_close(gradient, wanted, f"the gradient of decay through scan of {which} import")


def test_bad_input(answer):
    """Shapes that differ and tensors without dimensions raise ValueError, on meta too."""
    for device in ("cpu", "meta"):
        for one, other in (
            ((3, 4), (3, 5)),
            ((3, 4), (4,)),
            ((3, 1), (3, 4)),
            ((3, 4), (4, 3)),
            ((3, 4), (1, 4)),
            ((), ()),
            ((), (1,)),
        ):
            x, decay = torch.zeros(one, device=device), torch.zeros(other, device=device)
            call = f"scan(x, decay) of shapes {one} and {other} on {device}"
            expect_raises(ValueError, lambda x=x, decay=decay: answer.scan(x, decay), call)


def oracle(answer, gen):
    results = []
    for reverse in (False, True):
        x, decay = (t.requires_grad_() for t in drawn(gen, (3, 6), torch.float64))
        y = answer.scan(x, decay, reverse)
        cotangent = torch.randn(y.shape, generator=gen, dtype=torch.float64)
        first = torch.autograd.grad(y, [x, decay], cotangent, create_graph=True)
        second = torch.autograd.grad(first[0].sin().sum() + first[1].sum(), [decay])
        results += [y.detach(), [g.detach() for g in first], list(second)]
    return results
