"""Answers to checkpoint_activations that people write."""

from grader.authoring.specimen import Right, Wrong

FORK = "        with torch.random.fork_rng(devices=[]), torch.enable_grad(), again:\n"
STATE = "            torch.set_rng_state(state)\n"
AGAIN = "            fn(*args)  # the graph of this run is dropped: only what it saved is of use\n"
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
        try:
            torch.set_rng_state(ctx.state)
            with torch.enable_grad():
                out = ctx.fn(*args)
        finally:
            torch.set_rng_state(now)
        if out.requires_grad:
            torch.autograd.backward(out, grad)
        return None, None, *[a.grad if isinstance(a, torch.Tensor) else None for a in args]

def checkpoint(fn, *args):
    return Run.apply(fn, torch.ones((), requires_grad=True), *args)
"""


def reentrant(old: str, new: str) -> str:
    assert REENTRANT.count(old) == 1, old
    return REENTRANT.replace(old, new)


SPECIMENS = [
    Wrong(
        "a module in evaluation mode draws nothing, it thinks",
        edits=[
            (
                "            torch.set_rng_state(state)\n",
                "            if getattr(fn, 'training', True):\n                torch.set_rng_state(state)\n",
            )
        ],
        check="test_same_dropout_mask",
        says="evaluation mode",
    ),
    Wrong(
        "only real arguments get gradients",
        code="""
import torch
from torch import Tensor


class _Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, fn, anchor, *args):
        ctx.fn = fn
        ctx.state = torch.get_rng_state()
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.rest = [None if isinstance(a, Tensor) else a for a in args]
        ctx.needs = [args[i].requires_grad for i in ctx.places]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with torch.no_grad():
            return fn(*args)

    @staticmethod
    def backward(ctx, grad):
        args = list(ctx.rest)
        for i, tensor, needs in zip(ctx.places, ctx.saved_tensors, ctx.needs):
            args[i] = tensor.detach().requires_grad_(needs and tensor.is_floating_point())
        before = torch.get_rng_state()
        torch.set_rng_state(ctx.state)
        try:
            with torch.enable_grad():
                result = ctx.fn(*args)
        finally:
            torch.set_rng_state(before)
        if result.requires_grad:
            torch.autograd.backward(result, grad)
        grads = [a.grad if isinstance(a, Tensor) else None for a in args]
        return None, None, *grads


def checkpoint(fn, *args):
    if not torch.is_grad_enabled():
        return fn(*args)
    return _Again.apply(fn, torch.empty(0, requires_grad=True), *args)
""",
        check="test_gradients_of_arguments",
        says="complex",
    ),
    Wrong(
        "makes a graph of the parameters' gradients",
        code=reentrant(
            "torch.autograd.backward(out, grad)", "torch.autograd.backward(out, grad, create_graph=True)"
        ),
        check="test_gradients_of_parameters",
        says="carries a graph",
    ),
    Wrong(
        "makes a graph under no_grad too, and cuts it off",
        edits=[
            (
                OFF,
                "    if not torch.is_grad_enabled():\n        with torch.enable_grad():\n"
                "            y = fn(*args)\n        return y.detach()\n",
            )
        ],
        check="test_without_gradients",
        says="under no_grad",
    ),
    Wrong(
        "copies arguments to make them contiguous",
        code=reentrant(
            "ctx.fn, ctx.args, ctx.state = fn, args, torch.get_rng_state()",
            "ctx.fn, ctx.state = fn, torch.get_rng_state()\n"
            "        ctx.args = [a.contiguous() if isinstance(a, torch.Tensor) else a for a in args]",
        ),
        check="test_nothing_is_held",
        says="transposed",
    ),
    Wrong(
        "sets the random state back for modules in training mode only",
        code=reentrant(
            "torch.set_rng_state(ctx.state)",
            "torch.set_rng_state(ctx.state if getattr(ctx.fn, 'training', False) else now)",
        ),
        check="test_same_dropout_mask",
        says="torch.rand",
    ),
    Wrong(
        "random states on one stack, which only suits backward from the last to the first",
        code=reentrant("torch.set_rng_state(ctx.state)", "torch.set_rng_state(STATES.pop())")
        .replace("fn, args, torch.get_rng_state()", "fn, args, STATES.append(torch.get_rng_state())")
        .replace("class Run", "STATES = []\n\nclass Run"),
        check="test_one_block_after_the_other",
        says="the first one first",
    ),
    Wrong(
        "fills parameters of modules only, not those that a lambda uses",
        code=reentrant(
            "torch.autograd.backward(out, grad)",
            "torch.autograd.backward(out, grad, inputs=[a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]"
            " + [p for p in getattr(ctx.fn, 'parameters', list)() if p.requires_grad])",
        ),
        check="test_gradients_of_parameters",
        says="scale",
    ),
    Wrong(
        "only calls the function",
        code="def checkpoint(fn, *args):\n    return fn(*args)\n",
        check="test_runs_again_in_backward",
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
        check="test_nothing_is_held",
        says="activations are kept",
    ),
    Wrong(
        "runs again at once, and keeps that",
        edits=[
            (
                HOOKS,
                "    torch.set_rng_state(state)\n    recompute()\n" + HOOKS,
            ),
        ],
        check="test_number_of_runs",
    ),
    Wrong(
        "copies its arguments",
        edits=[
            (
                START,
                START + "    args = tuple(a.clone() if isinstance(a, torch.Tensor) else a for a in args)\n",
            )
        ],
        check="test_nothing_is_held",
        says="copied",
    ),
    Wrong(
        "runs again for every tensor that backward asks for",
        edits=[(ASK, "        saved.clear()\n        recompute()\n        return saved[place]\n")],
        check="test_number_of_runs",
        says="after backward",
    ),
    Wrong(
        "another dropout mask the second time",
        edits=[(STATE, "")],
        check="test_same_dropout_mask",
        says="the second run draws other numbers",
    ),
    Wrong(
        "remembers the random state after the first run",
        edits=[
            (START, ""),
            (
                HOOKS + "        return fn(*args)\n",
                HOOKS + "        y = fn(*args)\n    state = torch.get_rng_state()\n    return y\n",
            ),
        ],
        check="test_same_dropout_mask",
        says="the random state is read after the first run",
    ),
    Wrong(
        "turns the random stream back in backward, for good",
        edits=[(FORK, "        with torch.enable_grad(), again:\n")],
        check="test_random_stream",
        says="moves the global random generator",
    ),
    Wrong(
        "draws a seed of its own for both runs",
        edits=[
            (
                START,
                "    seed = int(torch.randint(2**31, ()))\n    state = torch.Generator().manual_seed(seed).get_state()\n",
            ),
            (
                HOOKS + "        return fn(*args)\n",
                "    with torch.random.fork_rng(devices=[]), torch.autograd.graph.saved_tensors_hooks(lambda _: next(places), unpack):\n        torch.set_rng_state(state)\n        return fn(*args)\n",
            ),
        ],
        check="test_same_dropout_mask",
    ),
    Wrong(
        "the same seed for every call",
        edits=[(START, "    torch.manual_seed(0)\n" + START)],
        check="test_random_stream",
        says="where block(x) leaves it",
    ),
    Wrong(
        "no gradients in the second run: nothing is saved",
        edits=[(FORK, FORK.replace(" torch.enable_grad(),", ""))],
        check="test_gradients_of_arguments",
    ),
    Wrong(
        "gradients on, whatever the caller says",
        edits=[(OFF, "    torch.set_grad_enabled(True)\n")],
        check="test_without_gradients",
    ),
    Wrong(
        "a function whose graph hangs on its arguments only",
        code=reentrant(
            "Run.apply(fn, torch.ones((), requires_grad=True), *args)", "Run.apply(fn, None, *args)"
        ),
        check="test_gradients_of_parameters",
        says="no gradient flows",
    ),
    Wrong(
        "goes backward through the arguments themselves: gradients behind them count twice",
        code=reentrant(
            "a.detach().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else a for a in ctx.args",
            "a for a in ctx.args",
        ).replace(
            "return None, None, *[a.grad if isinstance(a, torch.Tensor) else None for a in args]",
            "return None, None, *[grad if isinstance(a, torch.Tensor) and a.requires_grad else None for a in args]",
        ),
        check="test_gradients_of_arguments",
    ),
    Wrong(
        "gradients for the arguments only: the parameters get none",
        code=reentrant(
            "        torch.autograd.backward(out, grad)\n        return None, None, *[a.grad if isinstance(a, torch.Tensor) else None for a in args]\n",
            """        needed = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
        found = iter(torch.autograd.grad(out, needed, grad) if needed else [])
        return None, None, *[next(found) if isinstance(a, torch.Tensor) and a.requires_grad else None for a in args]
""",
        ),
        check="test_gradients_of_parameters",
    ),
    Wrong(
        "forgets the gradient that arrives from above",
        code=reentrant(
            "torch.autograd.backward(out, grad)", "torch.autograd.backward(out, torch.ones_like(out))"
        ),
        check="test_gradients_of_arguments",
    ),
    Wrong(
        "makes every tensor require a gradient in the second run",
        code=reentrant(
            ".requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor)",
            ".requires_grad_() if isinstance(a, torch.Tensor)",
        ),
        check="test_any_arguments",
    ),
    Wrong(
        "makes every floating tensor require a gradient in the second run",
        code=reentrant(".requires_grad_(a.requires_grad) if", ".requires_grad_(a.is_floating_point()) if"),
        check="test_arguments_are_left_alone",
        says="in both runs of fn",
    ),
    Wrong(
        "switches the arguments' gradients on in place",
        code=reentrant(
            "a.detach().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor)",
            "a.detach().requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point()",
        ).replace(
            "def checkpoint(fn, *args):\n",
            "def checkpoint(fn, *args):\n    for a in args:\n        if isinstance(a, torch.Tensor) and a.is_floating_point():\n            a.requires_grad_()\n",
        ),
        check="test_arguments_are_left_alone",
    ),
    Wrong(
        "tensors first, then the rest",
        edits=[
            (START, START + "    args = tuple(sorted(args, key=lambda a: not isinstance(a, torch.Tensor)))\n")
        ],
        check="test_any_arguments",
    ),
    Wrong(
        "one random state for all calls",
        code="STATES = []\n"
        + reentrant(
            "torch.get_rng_state()\n        return fn(*args)",
            "None\n        STATES.append(torch.get_rng_state())\n        return fn(*args)",
        ).replace("torch.set_rng_state(ctx.state)", "torch.set_rng_state(STATES[-1])"),
        check="test_one_block_after_the_other",
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
        check="test_in_the_middle_of_a_network",
    ),
    Wrong(
        "torch.utils.checkpoint does the work",
        code="""
from torch.utils import checkpoint as library

def checkpoint(fn, *args):
    return library.checkpoint(fn, *args, use_reentrant=False)
""",
        check="test_own_work",
        says="torch.utils.checkpoint",
    ),
    Wrong(
        "goes backward through frozen layers, where there is no graph",
        code=reentrant("        if out.requires_grad:\n    ", ""),
        check="test_gradients_of_parameters",
    ),
    Wrong(
        "adds to the `.grad` of leaves, and returns the gradient as well",
        code=reentrant(
            "        return None, None",
            "        for a, b in zip(ctx.args, args):\n"
            "            if isinstance(a, torch.Tensor) and a.is_leaf and a.requires_grad:\n"
            "                a.grad = b.grad if a.grad is None else a.grad + b.grad\n"
            "        return None, None",
        ),
        check="test_gradients_of_arguments",
    ),
    Right("an autograd.Function that goes backward inside its backward", code=REENTRANT),
    Right(
        "the same with saved tensors, and gradients found by autograd.grad",
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
    Wrong(
        "takes False for no argument in the second run",
        code=reentrant(
            "ctx.fn, ctx.args, ctx.state = fn, args,",
            "ctx.fn, ctx.args, ctx.state = fn, [a if torch.is_tensor(a) else a or None for a in args],",
        ),
        check="test_any_arguments",
        says="plain values",
    ),
    Wrong(
        "gives zeros to an argument that fn does not use",
        code=reentrant(
            "*[a.grad if isinstance(a, torch.Tensor) else None for a in args]",
            "*[(torch.zeros_like(a) if a.grad is None else a.grad) if torch.is_tensor(a) and a.requires_grad\n"
            "                             else None for a in args]",
        ),
        check="test_arguments_are_left_alone",
        says="does not use",
    ),
]
