"""What grades scan: values, gradients, opcheck, the graph; strides, meta, second order, cost."""

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
)
from grader.checks.compile.graphs import compiled, expect_compiles
from grader.checks.contract import Contract, dtypes, empties, errors, given, gradients, strides, untouched
from grader.checks.cost.dispatch import DispatchMode


def warm_up():
    """Make torch import what its first `opcheck` needs, without a backward: this process forks."""
    opcheck(torch.ops.aten.sin.default, (torch.ones(2),))
    torch.compiler.reset()


def right(x, decay):
    """The loop of the statement, which autograd can derive."""
    state, states = torch.zeros_like(x.sum(-1)), []
    for t in range(x.shape[-1]):
        state = decay[..., t] * state + x[..., t]
        states.append(state)
    return torch.stack(states, dim=-1) if states else x.clone()


def drawn(gen, *shape, dtype=torch.float32):
    x = torch.randn(shape, generator=gen, dtype=torch.float64)
    decay = torch.rand(shape, generator=gen, dtype=torch.float64) * 1.6 - 0.6
    return x.to(dtype), decay.to(dtype)


def pairs(gen):
    return {
        "one row": given(*drawn(gen, 5)),
        "three rows": given(*drawn(gen, 3, 7)),
        "three dimensions": given(*drawn(gen, 2, 3, 4)),
        "two steps": given(*drawn(gen, 4, 2)),
    }


def of_two_shapes(_gen):
    shapes = [((3, 4), (3, 5)), ((3, 4), (3, 1)), ((3, 4), (4,))]
    return {
        f"{one} and {other} on {device}": given(
            torch.zeros(one, device=device), torch.zeros(other, device=device)
        )
        for one, other in shapes
        for device in ("cpu", "meta")
    }


def transposed(gen):
    return {"permuted": given(*(t.permute(2, 0, 1) for t in drawn(gen, 4, 6, 3)))}


contract = Contract(
    "scan(x, decay)",
    reference=right,
    inputs=pairs,
    gradient="x decay",
    scale=30.0,
    suspects={
        "the state is multiplied by the decay of the step before": lambda x, decay: right(
            x, decay.roll(1, -1)
        ),
        "x[t] does not decay in its own step": lambda x, decay: right(x * decay, decay),
    },
    fine=[
        dtypes(torch.float64),
        strides(),
        gradients(
            "x decay",
            inputs=transposed,
            name="gradients_of_strided_inputs",
            title="Permuted inputs have the right gradients.",
        ),
        empties(inputs=lambda gen: [drawn(gen, 0, 3), drawn(gen, 2, 0)], title="Batch or time may be 0."),
        untouched(),
        errors(
            (ValueError, RuntimeError),
            of_two_shapes,
            name="bad_shapes",
            title='Shapes that differ raise ValueError, on "meta" too.',
        ),
    ],
)


class Operators(DispatchMode):
    """The operators that are not PyTorch's own, with their arguments."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace not in ("aten", "prim", "prims"):
            self.calls.append((func, args, kwargs or {}))
        return func(*args, **(kwargs or {}))


SAID = {
    "no fake impl": "the operator has no fake kernel yet: `register_fake` takes what makes an empty result",
    "was mutated": "the kernel writes into its input: make a tensor for the states",
    "metadata": "the fake kernel makes another shape or dtype than the real one",
    "outputs_alias": "the fake kernel returns its input, and the real one a new tensor",
    "must not also be an input": "the operator returns its input, written over: make a tensor for the states",
}
"""What `opcheck` says, and what it means here."""


def operator_of(answer, x, decay, call):
    """The operator that the call runs, with its arguments."""
    with Operators() as operators:
        answer.scan(x, decay)
    expect_that(bool(operators.calls), f"{call} runs no operator of yours: torch.library.custom_op makes one")
    return operators.calls[0]


def expect_opcheck(answer, x, decay, call, **options):
    """Fail, with what it says, unless `opcheck` passes for the operator that the call runs."""
    operator, args, kwargs = operator_of(answer, x, decay, call)
    requires = x.requires_grad or decay.requires_grad
    fresh = tuple(
        t.detach().requires_grad_(requires) if isinstance(t, torch.Tensor) and t.is_floating_point() else t
        for t in args
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            opcheck(operator, fresh, kwargs, **options)
    except NotImplementedError:
        raise
    except Exception as error:
        said = [line for line in str(error).splitlines() if line.strip()]
        text = "\n".join(line[:160] for line in said[:4])
        likely = next((cause for words, cause in SAID.items() if words in str(error)), "")
        raise CheckFailure(f"opcheck fails on {call}", yours=text, likely=likely) from None


def test_opcheck(answer, gen):
    """`torch.library.opcheck` finds nothing wrong."""
    expect_opcheck(answer, *(t.requires_grad_() for t in drawn(gen, 3, 5)), "scan(x, decay) of shape (3, 5)")


def test_one_node(answer, gen):
    """In the graph it is one node, however long the time."""
    counts = {}
    for time in (3, 40):
        x, decay = drawn(gen, 2, time)
        operator_of(answer, x, decay, "scan(x, decay)")  # to compile a loop takes long
        with compiled(lambda x, decay: answer.scan(x, decay), "scan(x, decay)") as captured:
            yours = captured(x, decay)
        expect_close(yours, right(x, decay), "the compiled scan(x, decay)", scale=10.0)
        counts[time] = sum(n.op.startswith("call") for graph in captured.graphs for n in graph.graph.nodes)
    expect_that(
        counts[3] == counts[40],
        "the graph of scan grows with time: the compiler has looked into it",
        yours=f"{counts[3]} nodes for 3 steps, {counts[40]} for 40",
        wanted="one node, a call of the operator",
    )


def test_compiled(answer, gen):
    """Compiled, it has the same results and gradients; one graph serves many sizes."""
    batches = [[t.requires_grad_() for t in drawn(gen, *shape)] for shape in ((3, 5), (4, 9), (2, 30))]
    call = "scan(x * 2, decay.sigmoid()) + x"
    operator_of(answer, *batches[0], "scan(x, decay)")
    expect_compiles(lambda x, decay: answer.scan(x * 2, decay.sigmoid()) + x, batches, call, dynamic=True)


@pytest.mark.fine
def test_second_order(answer, gen):
    """Gradients of gradients are right."""
    expect_gradients(
        lambda x, decay: answer.scan(x, decay).square(),
        drawn(gen, 2, 4, dtype=torch.float64),
        lambda x, decay: right(x, decay).square(),
        gen=gen,
        call="scan(x, decay)²",
        names="x decay",
        second_order=True,
        scale=1000.0,
    )


@pytest.mark.fine
def test_contiguous(answer, gen):
    """For permuted inputs the result is contiguous, and the fake kernel says so."""
    x, decay = (t.permute(2, 0, 1) for t in drawn(gen, 4, 6, 3))
    call = "scan(x, decay), permuted inputs"
    yours = answer.scan(x, decay)
    expect_that(
        yours.is_contiguous(),
        f"the result of {call}, is not contiguous",
        yours=f"strides {yours.stride()} for shape {tuple(yours.shape)}",
    )
    expect_opcheck(answer, x, decay, call, test_utils=("test_schema", "test_faketensor"))


@pytest.mark.fine
def test_meta(answer):
    """On meta, a meta tensor of the right shape and dtype comes back, of any size."""
    for shape, dtype in (((3, 5), torch.float64), ((10**6, 10**6), torch.float32)):
        x = torch.empty(shape, dtype=dtype, device="meta")
        yours = answer.scan(x, x)
        facts = (tuple(yours.shape), yours.dtype, yours.device.type)
        expect_equal(facts, (shape, dtype, "meta"), f"shape, dtype and device of scan on meta, {shape}")


@pytest.mark.fine
def test_cost_of_backward(answer, gen):
    """Backward takes the same number of operations for any time."""
    counts = {}
    for time in (4, 60):
        y = answer.scan(*(t.requires_grad_() for t in drawn(gen, 2, time))).sum()
        counts[time] = sum(count_operations(y.backward).values())
    expect_that(
        abs(counts[60] - counts[4]) < 5,
        "the number of operations in backward of scan(x, decay) grows with time",
        yours=f"{counts[4]} for 4 steps, {counts[60]} for 60",
        wanted="the same number: for_x is one call of an operator",
    )


@pytest.mark.fine
def test_decay_is_watched(answer, gen):
    """If decay is changed in place before backward, backward raises instead of giving wrong gradients."""
    x, decay = drawn(gen, 3, 5)
    y = answer.scan(x.requires_grad_(), decay)
    decay.fill_(1)
    call = "backward after decay was changed in place (saved other than by ctx.save_for_backward?)"
    expect_raises(RuntimeError, lambda: y.sum().backward(), call)
