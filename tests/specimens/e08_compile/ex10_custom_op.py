"""Answers to custom_op that people write."""

from grader.authoring.specimen import Right, Works, Wrong

REGISTER = '@custom_op("kata::scan", mutates_args=())\n'
STATES = "    states = x.new_empty(x.shape)  # (..., time), contiguous\n"
LOOP = "        state = decay[..., t] * state + x[..., t]\n"
FAKE_DEF = "@scan.register_fake\n"
FAKE = "    return x.new_empty(x.shape)  # (..., time): sizes may be symbols\n"
SAVE = "    ctx.save_for_backward(inputs[1], output)\n"
SAVED = "    decay, states = ctx.saved_tensors\n"
FOR_X = "    for_x = scan(grad.flip(-1), later.flip(-1)).flip(-1)  # (..., time)\n"
AUTOGRAD = "scan.register_autograd(_backward, setup_context=_keep)\n"
RAISE = """    if x.shape != decay.shape:
        raise ValueError(f"x and decay must have one shape, but are {x.shape} and {decay.shape}")
"""

SPECIMENS = [
    Wrong(
        "the loop, as a plain function",
        code="""
import torch

def scan(x, decay):
    state, states = torch.zeros_like(x[..., 0]), []
    for t in range(x.shape[-1]):
        state = decay[..., t] * state + x[..., t]
        states.append(state)
    return torch.stack(states, dim=-1)
""",
        rung="job",
        check="test_one_node",
        says="the compiler has looked into it",
    ),
    Wrong(
        "an autograd function in place of an operator",
        code="""
import torch

class Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, decay):
        states, state = torch.empty_like(x), torch.zeros_like(x[..., 0])
        for t in range(x.shape[-1]):
            state = decay[..., t] * state + x[..., t]
            states[..., t] = state
        ctx.save_for_backward(decay, states)
        return states

    @staticmethod
    def backward(ctx, grad):
        decay, states = ctx.saved_tensors
        zero = torch.zeros_like(decay[..., :1])
        later = torch.cat([decay[..., 1:], zero], -1).flip(-1)
        for_x = scan(grad.flip(-1), later).flip(-1)
        return for_x, for_x * torch.cat([zero, states[..., :-1]], -1)

def scan(x, decay):
    return Scan.apply(x, decay)
""",
        rung="job",
        check="test_opcheck",
        says="torch.library.custom_op makes one",
    ),
    Wrong(
        "the decay of the step before",
        edits=[(LOOP, LOOP.replace("decay[..., t]", "decay[..., t - 1]"))],
        rung="job",
        check="test_values",
        says="the decay of the step before",
    ),
    Wrong("no fake kernel", edits=[(FAKE_DEF, "")], rung="job", check="test_compiled"),
    Wrong(
        "a fake result of the wrong shape",
        edits=[(FAKE, "    return x.new_empty(x.shape[:-1])\n")],
        rung="job",
        check="test_opcheck",
    ),
    Wrong(
        "the fake kernel returns its input",
        edits=[(FAKE, "    return x\n")],
        rung="job",
        check="test_opcheck",
    ),
    Wrong(
        "sizes as plain ints",
        edits=[(FAKE, "    return x.new_empty([int(n) for n in x.shape])\n")],
        rung="job",
        check="test_compiled",
    ),
    Wrong(
        "no gradient",
        edits=[(AUTOGRAD, "")],
        rung="job",
        check="test_gradients",
    ),
    Wrong(
        "writes the states into x",
        edits=[(STATES, "    states = x\n"), ("    return states\n", "    return states.clone()\n")],
        rung="job",
        check="test_opcheck",
    ),
    Wrong(
        "the decay of the same step in backward",
        edits=[("later.flip(-1)).flip", "decay.flip(-1)).flip")],
        rung="job",
        check="test_gradients_example",
        says="decay of the same step",
    ),
    Wrong(
        "states not shifted",
        edits=[("for_x * before", "for_x * states")],
        rung="job",
        check="test_gradients_example",
        says="the state of the same step",
    ),
    Wrong(
        "no gradient for decay",
        edits=[("return for_x, for_x * before", "return for_x, None")],
        rung="job",
        check="test_gradients",
        says="decay",
    ),
    Wrong(
        "the strides of x in the fake result",
        edits=[(FAKE, "    return torch.empty_like(x)\n")],
        rung="fine",
        check="test_contiguous",
    ),
    Wrong(
        "a fake result on the CPU",
        edits=[(FAKE, "    return torch.empty(x.shape, dtype=x.dtype)\n")],
        rung="fine",
        check="test_meta",
    ),
    Wrong(
        "float32 states",
        edits=[
            (STATES, "    states = torch.empty(x.shape)\n"),
            (FAKE, "    return torch.empty(x.shape, device=x.device)\n"),
        ],
        rung="fine",
        check="test_dtype_is_kept",
    ),
    Wrong(
        "backward cuts the graph",
        edits=[(FOR_X, FOR_X + "    for_x = for_x.detach()\n")],
        rung="fine",
        check="test_second_order",
    ),
    Wrong(
        "decay kept as an attribute",
        edits=[
            (SAVE, "    ctx.save_for_backward(output)\n    ctx.decay = decay = inputs[1]\n"),
            (SAVED, "    decay, (states,) = ctx.decay, ctx.saved_tensors\n"),
        ],
        rung="fine",
        check="test_decay_is_watched",
    ),
    Wrong(
        "a view of the saved states as rows of steps",
        edits=[("before = torch.cat", "decay.view(-1, *decay.shape[-1:])\n    before = torch.cat")],
        rung="fine",
        check="test_gradients_of_strided_inputs",
    ),
    Wrong("no check", edits=[(RAISE, "    pass\n")], rung="fine", check="test_bad_shapes"),
    Wrong(
        "checks in the kernel only",
        edits=[
            (
                FAKE_DEF + "def _fake(x: Tensor, decay: Tensor) -> Tensor:\n    _check(x, decay)\n",
                FAKE_DEF + "def _fake(x: Tensor, decay: Tensor) -> Tensor:\n",
            )
        ],
        rung="fine",
        check="test_bad_shapes",
    ),
    Works(
        "as the tutorial has it: a loop in NumPy, another operator for the gradient",
        code="""
import numpy as np
import torch
from torch import Tensor


@torch.library.custom_op("mylib::numpy_scan", mutates_args=())
def numpy_scan(x: Tensor, decay: Tensor) -> Tensor:
    x_np, d_np = x.detach().cpu().numpy(), decay.detach().cpu().numpy()
    out = np.empty_like(x_np)
    state = np.zeros_like(x_np[..., 0])
    for t in range(x_np.shape[-1]):
        state = d_np[..., t] * state + x_np[..., t]
        out[..., t] = state
    return torch.from_numpy(out).to(x.device)


@numpy_scan.register_fake
def _(x, decay):
    return torch.empty_like(x)


@torch.library.custom_op("mylib::numpy_scan_backward", mutates_args=())
def numpy_scan_backward(grad: Tensor, decay: Tensor) -> Tensor:
    out = torch.zeros_like(grad)
    later = torch.zeros_like(grad[..., 0])
    for t in reversed(range(grad.shape[-1])):
        later = grad[..., t] + later
        out[..., t] = later
        later = decay[..., t] * later
    return out


@numpy_scan_backward.register_fake
def _(grad, decay):
    return torch.empty_like(grad)


def setup_context(ctx, inputs, output):
    x, decay = inputs
    ctx.save_for_backward(decay, output)


def backward(ctx, grad):
    decay, states = ctx.saved_tensors
    grad_x = numpy_scan_backward(grad, decay)
    before = torch.roll(states, 1, -1)
    before[..., 0] = 0
    return grad_x, grad_x * before


numpy_scan.register_autograd(backward, setup_context=setup_context)


def scan(x, decay):
    return numpy_scan(x, decay)
""",
    ),
    Works(
        "the loop of the statement, and a loop in backward",
        code="""
import torch
from torch import Tensor


@torch.library.custom_op("kata::scan", mutates_args=())
def scan(x: Tensor, decay: Tensor) -> Tensor:
    state, states = torch.zeros_like(x[..., 0]), []
    for t in range(x.shape[-1]):
        state = decay[..., t] * state + x[..., t]
        states.append(state)
    return torch.stack(states, dim=-1)


@scan.register_fake
def _(x, decay):
    return torch.empty_like(x)


def setup_context(ctx, inputs, output):
    ctx.decay = inputs[1]
    ctx.states = output


def backward(ctx, g):
    decay, states = ctx.decay, ctx.states
    for_x = torch.empty_like(g)
    for_decay = torch.empty_like(g)
    carry = torch.zeros_like(g[..., 0])
    for t in range(g.shape[-1] - 1, -1, -1):
        for_x[..., t] = g[..., t] + carry
        carry = decay[..., t] * for_x[..., t]
        for_decay[..., t] = for_x[..., t] * states[..., t - 1] if t > 0 else 0
    return for_x, for_decay


scan.register_autograd(backward, setup_context=setup_context)
""",
    ),
    Right(
        "a library, NumPy, states computed again in backward",
        code="""
import torch
from torch.nn.functional import pad

library = torch.library.Library("kata_scan", "FRAGMENT")
library.define("scan(Tensor x, Tensor decay) -> Tensor")


def check(x, decay):
    if tuple(x.shape) != tuple(decay.shape):
        raise ValueError("shapes")


def kernel(x, decay):
    check(x, decay)
    a, b = x.detach().numpy(), decay.detach().numpy()
    out = a * 0
    for t in range(a.shape[-1]):
        out[..., t] = a[..., t] + (b[..., t] * out[..., t - 1] if t else 0)
    return torch.from_numpy(out).contiguous()


def fake(x, decay):
    check(x, decay)
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def setup_context(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def backward(ctx, grad):
    x, decay = ctx.saved_tensors
    if decay.shape[-1] == 0:
        return grad, grad
    states = pad(scan(x, decay), (1, -1))
    grad = scan(grad.flip(-1), pad(decay, (-1, 1)).flip(-1)).flip(-1)
    return grad, grad * states


library.impl("scan", kernel, "CPU")
torch.library.register_fake("kata_scan::scan", fake, lib=library)
torch.library.register_autograd("kata_scan::scan", backward, setup_context=setup_context, lib=library)
scan = torch.ops.kata_scan.scan
""",
    ),
    Right(
        "an operator that can go both ways, behind a function",
        code="""
import torch
from torch import Tensor


@torch.library.custom_op("kata::both", mutates_args=())
def both(x: Tensor, decay: Tensor, reverse: bool) -> Tensor:
    if x.shape != decay.shape:
        raise ValueError("shapes")
    if 0 in x.shape:
        return torch.empty(x.shape, dtype=x.dtype)
    steps = range(x.shape[-1])[:: -1 if reverse else 1]
    state, states = 0, {}
    for t in steps:
        state = states[t] = decay[..., t] * state + x[..., t]
    return torch.stack([states[t] for t in range(x.shape[-1])], -1)


@both.register_fake
def _(x, decay, reverse):
    torch._check_value(x.shape == decay.shape, lambda: "shapes")
    return torch.empty(x.size(), dtype=x.dtype, device=x.device)


def keep(ctx, inputs, output):
    _, decay, ctx.reverse = inputs
    ctx.save_for_backward(decay, output)


def shift(x, left):
    zero = torch.zeros_like(x[..., :1])
    return torch.cat([x[..., 1:], zero] if left else [zero, x[..., :-1]], -1)


def backward(ctx, grad):
    decay, states = ctx.saved_tensors
    for_x = both(grad, shift(decay, not ctx.reverse), not ctx.reverse)
    return for_x, for_x * shift(states, ctx.reverse), None


both.register_autograd(backward, setup_context=keep)


def scan(x, decay):
    return both(x, decay, False)
""",
    ),
]
