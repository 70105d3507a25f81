"""Answers to checkpoint_activations that people write."""

from grader.authoring.specimen import Right, Works, Wrong

FORK = "        with torch.random.fork_rng(devices=[]), torch.enable_grad(), again:\n"
STATE = "            torch.set_rng_state(state)\n"
START = "    state = torch.get_rng_state()\n"
ASK = "        if not saved:\n            recompute()\n        return saved[place]\n"
OFF = "    if not torch.is_grad_enabled():\n        return fn(*args)\n"
HOOKS = "    with torch.autograd.graph.saved_tensors_hooks(lambda _: next(places), unpack):\n"

REENTRANT = """
import torch

class Run(torch.autograd.Function):
    @staticmethod
    def forward(ctx, fn, dummy, *args):
        ctx.fn, ctx.args, ctx.state = fn, args, torch.get_rng_state()
        return fn(*args)

    @staticmethod
    def backward(ctx, grad):
        args = [a.detach().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else a for a in ctx.args]
        now = torch.get_rng_state()
        torch.set_rng_state(ctx.state)
        with torch.enable_grad():
            out = ctx.fn(*args)
        torch.set_rng_state(now)
        if out.requires_grad:
            torch.autograd.backward(out, grad)
        return None, None, *[a.grad if isinstance(a, torch.Tensor) else None for a in args]

def checkpoint(fn, *args):
    return Run.apply(fn, torch.ones((), requires_grad=True), *args)
"""
BACKWARD = "        torch.autograd.backward(out, grad)\n        return None, None, *[a.grad if isinstance(a, torch.Tensor) else None for a in args]\n"
LEAVES = "a.detach().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else a for a in ctx.args"

MEGATRON = """
import torch


class CheckpointFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run_function, *args):
        ctx.run_function = run_function
        ctx.fwd_cpu_rng_state = torch.get_rng_state()
        with torch.no_grad():
            outputs = run_function(*args)
        ctx.save_for_backward(*args)
        return outputs

    @staticmethod
    def backward(ctx, *grads):
        inputs = ctx.saved_tensors
        bwd_cpu_rng_state = torch.get_rng_state()
        torch.set_rng_state(ctx.fwd_cpu_rng_state)
        detached = tuple(x.detach().requires_grad_(x.requires_grad) for x in inputs)
        with torch.enable_grad():
            outputs = ctx.run_function(*detached)
        torch.set_rng_state(bwd_cpu_rng_state)
        torch.autograd.backward((outputs,), grads)
        return (None,) + tuple(x.grad for x in detached)


def checkpoint(fn, *args):
    return CheckpointFunction.apply(fn, *args)
"""


def reentrant(old: str, new: str) -> str:
    assert REENTRANT.count(old) == 1, old
    return REENTRANT.replace(old, new)


SPECIMENS = [
    Wrong(
        "only calls the function",
        code="def checkpoint(fn, *args):\n    return fn(*args)\n",
        rung="job",
        check="test_saves_less",
        says="keep what fn computed",
    ),
    Wrong(
        "hides the activations from autograd, and keeps them in a list",
        edits=[
            (
                HOOKS,
                "    keep = []\n    with torch.autograd.graph.saved_tensors_hooks(lambda x: (keep.append(x.detach()), next(places))[1], unpack):\n",
            ),
            (ASK, ASK.rstrip() + " if keep else keep[place]\n"),
        ],
        rung="job",
        check="test_nothing_is_held",
        says="activations are kept",
    ),
    Wrong(
        "runs again for every tensor that backward asks for",
        edits=[(ASK, "        saved.clear()\n        recompute()\n        return saved[place]\n")],
        rung="job",
        check="test_runs_again_in_backward",
        says="after backward",
    ),
    Wrong(
        "another dropout mask the second time",
        edits=[(STATE, "")],
        rung="job",
        check="test_same_dropout_mask",
        says="the second run draws other numbers",
    ),
    Wrong(
        "no gradients in the second run",
        code=reentrant("torch.enable_grad()", "torch.no_grad()"),
        rung="job",
        check="test_value_and_gradients",
    ),
    Wrong(
        "goes backward through the arguments themselves: gradients behind them count twice",
        code=reentrant(LEAVES, "a for a in ctx.args").replace(
            "*[a.grad if isinstance(a, torch.Tensor)",
            "*[a.grad if isinstance(a, torch.Tensor) and a.requires_grad",
        ),
        rung="job",
        check="test_value_and_gradients",
        says="counted twice",
    ),
    Wrong(
        "gradients for the arguments only: the parameters get none",
        code=reentrant(
            BACKWARD,
            """        needed = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
        found = iter(torch.autograd.grad(out, needed, grad, allow_unused=True) if needed else [])
        return None, None, *[next(found) if isinstance(a, torch.Tensor) and a.requires_grad else None for a in args]
""",
        ),
        rung="job",
        check="test_gradients_of_parameters",
    ),
    Wrong(
        "forgets the gradient that arrives from above",
        code=reentrant(
            "torch.autograd.backward(out, grad)", "torch.autograd.backward(out, torch.ones_like(out))"
        ),
        rung="job",
        check="test_value_and_gradients",
        says="from above is ignored",
    ),
    Wrong(
        "cuts the graph behind its arguments",
        edits=[
            (
                START,
                START
                + "    args = tuple(a.detach().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else a for a in args)\n",
            )
        ],
        rung="job",
        check="test_in_the_middle_of_a_network",
    ),
    Wrong(
        "torch.utils.checkpoint does the work",
        code="""
from torch.utils import checkpoint as library

def checkpoint(fn, *args):
    return library.checkpoint(fn, *args, use_reentrant=False)
""",
        rung="job",
        check="test_own_work",
        says="torch.utils.checkpoint",
    ),
    Wrong(
        "a function whose graph hangs on its arguments only",
        code=reentrant(
            "Run.apply(fn, torch.ones((), requires_grad=True), *args)", "Run.apply(fn, None, *args)"
        ),
        rung="fine",
        check="test_no_argument_requires_a_gradient",
        says="no gradient flows",
    ),
    Wrong(
        "makes every tensor require a gradient in the second run",
        code=reentrant(".requires_grad_(a.requires_grad) if", ".requires_grad_() if"),
        rung="fine",
        check="test_any_arguments",
    ),
    Wrong(
        "gives zeros to an argument that fn does not use",
        code=reentrant(
            "*[a.grad if isinstance(a, torch.Tensor) else None for a in args]",
            "*[(torch.zeros_like(a) if a.grad is None else a.grad) if torch.is_tensor(a) and a.requires_grad\n"
            "                             else None for a in args]",
        ),
        rung="fine",
        check="test_arguments_are_left_alone",
        says="does not use",
    ),
    Wrong(
        "copies its arguments",
        edits=[
            (
                START,
                START + "    args = tuple(a.clone() if isinstance(a, torch.Tensor) else a for a in args)\n",
            )
        ],
        rung="fine",
        check="test_no_copies",
        says="copied",
    ),
    Wrong(
        "gradients on, whatever the caller says",
        edits=[(OFF, "    torch.set_grad_enabled(True)\n")],
        rung="fine",
        check="test_without_gradients",
    ),
    Wrong(
        "turns the random stream back in backward, for good",
        edits=[(FORK, "        with torch.enable_grad(), again:\n")],
        rung="fine",
        check="test_random_stream",
        says="moves the global random generator",
    ),
    Wrong(
        "one random state for all calls",
        code="STATES = []\n"
        + reentrant(
            "torch.get_rng_state()\n        return fn(*args)",
            "None\n        STATES.append(torch.get_rng_state())\n        return fn(*args)",
        ).replace("torch.set_rng_state(ctx.state)", "torch.set_rng_state(STATES[-1])"),
        rung="fine",
        check="test_one_block_after_the_other",
    ),
    Works("as Megatron-LM has it", code=MEGATRON),
    Works(
        "quick: every argument is a tensor, and requires a gradient",
        code="""
import torch


class Checkpoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, fn, *args):
        ctx.fn, ctx.rng = fn, torch.get_rng_state()
        ctx.save_for_backward(*args)
        return fn(*args)

    @staticmethod
    def backward(ctx, grad):
        args = [a.detach().requires_grad_() for a in ctx.saved_tensors]
        torch.set_rng_state(ctx.rng)
        with torch.enable_grad():
            out = ctx.fn(*args)
        out.backward(grad)
        return None, *[a.grad for a in args]


def checkpoint(fn, *args):
    return Checkpoint.apply(fn, *args)
""",
    ),
    Right("an autograd.Function that goes backward inside its backward", code=REENTRANT),
    Right(
        "the same with saved tensors, and a fork of the random stream",
        code="""
import torch
from torch import Tensor

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, fn, spec, anchor, *tensors):
        ctx.fn, ctx.spec = fn, spec
        ctx.rng = torch.random.get_rng_state()
        ctx.save_for_backward(*tensors)
        values = iter(tensors)
        return fn(*[next(values) if kind is Tensor else kind for kind in spec])

    @staticmethod
    def backward(ctx, upstream):
        leaves = []
        for old, wanted in zip(ctx.saved_tensors, ctx.needs_input_grad[3:]):
            new = old.detach()
            new.requires_grad = wanted
            leaves.append(new)
        values = iter(leaves)
        with torch.random.fork_rng(devices=()):
            torch.random.set_rng_state(ctx.rng)
            with torch.set_grad_enabled(True):
                result = ctx.fn(*[next(values) if kind is Tensor else kind for kind in ctx.spec])
        if result.requires_grad:
            result.backward(upstream)
        return (None, None, None, *(leaf.grad for leaf in leaves))

def checkpoint(fn, *args):
    tensors = [a for a in args if isinstance(a, Tensor)]
    spec = [Tensor if isinstance(a, Tensor) else a for a in args]
    return Twice.apply(fn, spec, torch.zeros(1).requires_grad_(), *tensors)
""",
    ),
]
