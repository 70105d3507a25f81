"""Answers to custom_op that people write."""

from grader.authoring.specimen import Right, Wrong

REGISTER = (
    '@custom_op(f"kata_{uuid.uuid4().hex}::scan", mutates_args=())  # a name that no earlier import has\n'
)
STATES = "    states = x.new_empty(x.shape)  # (..., time), contiguous\n"
STATE = "    state = x.new_zeros(x.shape[:-1])\n"
LOOP = """    steps = range(x.shape[-1])
    for t in reversed(steps) if reverse else steps:
        state = decay[..., t] * state + x[..., t]
        states[..., t] = state
    return states
"""
FAKE = "    return x.new_empty(x.shape)  # (..., time): sizes may be symbols\n"
FAKE_DEF = """@scan.register_fake
def _fake(x: Tensor, decay: Tensor, reverse: bool = False) -> Tensor:
    _check(x, decay)
"""
SAVE = "    ctx.save_for_backward(decay, output)\n"
FOR_X = "    for_x = scan(grad, _shifted(decay, not ctx.reverse), not ctx.reverse)  # (..., time)\n"
RETURN = "    return for_x, for_x * _shifted(states, ctx.reverse), None\n"
AUTOGRAD = "scan.register_autograd(_backward, setup_context=_keep)\n"
TEST = "x.dim() == 0 or x.shape != decay.shape"

PLAIN = """    state, states = torch.zeros_like(x.select(-1, 0)) if x.shape[-1] else None, []
    for t in range(x.shape[-1])[:: -1 if reverse else 1]:
        state = decay[..., t] * state + x[..., t]
        states.append(state)
    return torch.stack(states[:: -1 if reverse else 1], -1) if states else x.clone()
"""
CHECK = """
def _check(x, decay):
    if x.dim() == 0 or x.shape != decay.shape:
        raise ValueError(f"shapes {x.shape} and {decay.shape}")
"""
FUNCTION = (
    "import torch\n"
    + CHECK
    + """

class Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, decay, reverse):
        _check(x, decay)
        states, state = x.new_empty(x.shape), x.new_zeros(x.shape[:-1])
        for t in range(x.shape[-1])[:: -1 if reverse else 1]:
            state = decay[..., t] * state + x[..., t]
            states[..., t] = state
        ctx.reverse = reverse
        ctx.save_for_backward(decay, states)
        return states

    @staticmethod
    def backward(ctx, grad):
        decay, states = ctx.saved_tensors
        for_x = scan(grad, shifted(decay, not ctx.reverse), not ctx.reverse)
        return for_x, for_x * shifted(states, ctx.reverse), None


def shifted(x, left):
    zero = torch.zeros_like(x[..., :1])
    return torch.cat([x[..., 1:], zero] if left else [zero, x[..., :-1]], -1)


def scan(x, decay, reverse=False):
    return Scan.apply(x, decay, reverse)
"""
)
BY_LIBRARY = (
    "import uuid\n\nimport torch\n"
    + CHECK
    + """

NAMESPACE = f"kata_{uuid.uuid4().hex}"
library = torch.library.Library(NAMESPACE, "DEF")
library.define("scan(Tensor x, Tensor decay, bool reverse=False) -> Tensor")


def kernel(x, decay, reverse=False):
    _check(x, decay)
    a, b = x.detach().numpy(), decay.detach().numpy()
    out = a * 0
    for t in range(a.shape[-1])[:: -1 if reverse else 1]:
        last = t + 1 if reverse else t - 1
        out[..., t] = a[..., t]
        if 0 <= last < a.shape[-1]:
            out[..., t] += b[..., t] * out[..., last]
    return torch.from_numpy(out).contiguous()


def fake(x, decay, reverse=False):
    _check(x, decay)
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def setup_context(ctx, inputs, output):
    ctx.reverse = inputs[2]
    ctx.save_for_backward(*inputs[:2])


def backward(ctx, grad):
    x, decay = ctx.saved_tensors
    states = scan(x, decay, ctx.reverse)
    if ctx.reverse:
        back = torch.nn.functional.pad(decay, (1, -1)) if decay.shape[-1] else decay
        states = torch.nn.functional.pad(states, (-1, 1)) if states.shape[-1] else states
    else:
        back = torch.nn.functional.pad(decay, (-1, 1)) if decay.shape[-1] else decay
        states = torch.nn.functional.pad(states, (1, -1)) if states.shape[-1] else states
    grad = scan(grad, back, not ctx.reverse)
    return grad, grad * states, None


library.impl("scan", kernel, "CPU")
torch.library.register_fake(f"{NAMESPACE}::scan", fake, lib=library)
torch.library.register_autograd(f"{NAMESPACE}::scan", backward, setup_context=setup_context, lib=library)
scan = getattr(torch.ops, NAMESPACE).scan
"""
)

SPECIMENS = [
    Wrong(
        "a plain function",
        edits=[(REGISTER, ""), (FAKE_DEF, FAKE_DEF.replace("@scan.register_fake\n", "")), (AUTOGRAD, "")],
        check="test_one_node",
    ),
    Wrong("an autograd function", code=FUNCTION, check="test_flat_cost"),
    Wrong(
        "a function that calls the operator",
        edits=[
            (
                REGISTER + "def scan(x: Tensor, decay: Tensor, reverse: bool = False) -> Tensor:",
                '@custom_op("kata::scan", mutates_args=())\ndef _scan(x: Tensor, decay: Tensor, reverse: bool = False) -> Tensor:',
            ),
            ("@scan.register_fake", "@_scan.register_fake"),
            (
                AUTOGRAD,
                "_scan.register_autograd(_backward, setup_context=_keep)\n\n\ndef scan(x, decay, reverse=False):\n    return _scan(x, decay, reverse)\n",
            ),
        ],
        check="test_opcheck",
    ),
    Wrong(
        "no fake kernel",
        edits=[(FAKE_DEF, FAKE_DEF.replace("@scan.register_fake\n", ""))],
        check="test_compiled",
    ),
    Wrong(
        "the kernel as the fake kernel: it loops, and needs the length",
        edits=[(FAKE, "    return torch.stack([x[..., t] for t in range(x.shape[-1])], -1)\n")],
        check="test_meta",
    ),
    Wrong(
        "a fake result of the wrong shape",
        edits=[(FAKE, "    return x.new_empty(x.shape[:-1])\n")],
        check="test_opcheck",
    ),
    Wrong(
        "a fake result of the wrong dtype",
        edits=[(FAKE, "    return x.new_empty(x.shape, dtype=torch.float32)\n")],
        check="test_fake_kernel",
    ),
    Wrong(
        "a fake result on the CPU",
        edits=[(FAKE, '    return torch.empty(x.shape, dtype=x.dtype, device="cpu")\n')],
        check="test_meta",
    ),
    Wrong(
        "a fake result with the strides of x",
        edits=[(FAKE, "    return torch.empty_like(x)\n")],
        check="test_meta",
        says="stride",
    ),
    Wrong(
        "the strides of x, really and fake",
        edits=[(FAKE, "    return torch.empty_like(x)\n"), (STATES, "    states = torch.empty_like(x)\n")],
        check="test_strides",
        says="contiguous",
    ),
    Wrong("the fake kernel returns its input", edits=[(FAKE, "    return x\n")], check="test_opcheck"),
    Wrong(
        "sizes as plain ints",
        edits=[(FAKE, "    return x.new_empty([int(n) for n in x.shape])\n")],
        check="test_compiled",
    ),
    Wrong("no gradient", edits=[(AUTOGRAD, "")], check="test_gradients"),
    Wrong(
        "writes the states into x",
        edits=[(STATES, "    states = x\n"), ("    return states\n", "    return states.clone()\n")],
        check="test_values",
        says="changes its input x",
    ),
    Wrong(
        "returns x where there is one step",
        edits=[(STATES, "    if x.shape[-1] == 1:\n        return x\n" + STATES)],
        check="test_own_memory",
    ),
    Wrong(
        "a view of x where there is one step",
        edits=[(STATES, "    if x.shape[-1] == 1:\n        return x.detach().view(x.shape)\n" + STATES)],
        check="test_own_memory",
    ),
    Wrong("ignores reverse", edits=[("reversed(steps) if reverse else steps", "steps")], check="test_values"),
    Wrong(
        "turns the states around, but not the decays",
        edits=[
            ("reversed(steps) if reverse else steps", "steps"),
            (STATES, STATES + "    x = x.flip(-1) if reverse else x\n"),
            ("    return states\n", "    return states.flip(-1).contiguous() if reverse else states\n"),
        ],
        check="test_values",
    ),
    Wrong(
        "the decay of the step before",
        edits=[("decay[..., t] * state + x", "decay[..., t - 1] * state + x")],
        check="test_values",
    ),
    Wrong(
        "decays x as well",
        edits=[("decay[..., t] * state + x[..., t]", "decay[..., t] * (state + x[..., t])")],
        check="test_values",
    ),
    Wrong(
        "an average",
        edits=[
            ("decay[..., t] * state + x[..., t]", "decay[..., t] * state + (1 - decay[..., t]) * x[..., t]")
        ],
        check="test_values",
    ),
    Wrong("begins with x", edits=[(STATE, "    state = x[..., 0]\n")], check="test_values"),
    Wrong("float32 states", edits=[(STATES, "    states = torch.empty(x.shape)\n")], check="test_values"),
    Wrong(
        "two dimensions only", edits=[(STATES, "    batch, time = x.shape\n" + STATES)], check="test_values"
    ),
    Wrong(
        "flattens the batch into one dimension",
        edits=[
            (
                STATE,
                "    state = x.new_zeros(x.shape[:-1])\n    decay = torch.from_numpy(decay.contiguous().view(-1).numpy()).view(decay.shape[0], -1)\n",
            )
        ],
        check="test_values",
    ),
    Wrong(
        "decays not shifted in backward",
        edits=[(FOR_X, "    for_x = scan(grad, decay, not ctx.reverse)\n")],
        check="test_gradients",
    ),
    Wrong(
        "shifted the wrong way",
        edits=[("_shifted(decay, not ctx.reverse)", "_shifted(decay, ctx.reverse)")],
        check="test_gradients",
    ),
    Wrong(
        "always backwards in backward",
        edits=[(FOR_X, "    for_x = scan(grad, _shifted(decay, True), True)\n")],
        check="test_gradients",
    ),
    Wrong("states not shifted", edits=[("_shifted(states, ctx.reverse)", "states")], check="test_gradients"),
    Wrong(
        "states shifted the wrong way in reverse",
        edits=[("_shifted(states, ctx.reverse)", "_shifted(states, False)")],
        check="test_gradients",
    ),
    Wrong(
        "no gradient for decay",
        edits=[(RETURN, "    return for_x, None, None\n")],
        check="test_gradients",
        says="decay",
    ),
    Wrong(
        "gradients swapped",
        edits=[(RETURN, "    return for_x * _shifted(states, ctx.reverse), for_x, None\n")],
        check="test_gradients",
    ),
    Wrong(
        "a shift that needs a step",
        edits=[("torch.zeros_like(x[..., :1])", "torch.zeros_like(x.select(-1, 0)).unsqueeze(-1)")],
        check="test_gradients",
    ),
    Wrong(
        "backward cuts the graph",
        edits=[(FOR_X, FOR_X + "    for_x = for_x.detach()\n")],
        check="test_second_order",
    ),
    Wrong(
        "backward without the graph",
        edits=[("def _backward(", "@torch.no_grad()\ndef _backward(")],
        check="test_second_order",
    ),
    Wrong(
        "a loop in backward",
        edits=[
            (
                FOR_X,
                """    later, total, steps = _shifted(decay, not ctx.reverse), torch.zeros_like(grad[..., :0].sum(-1)), []
    for t in range(grad.shape[-1])[:: 1 if ctx.reverse else -1]:
        total = later[..., t] * total + grad[..., t]
        steps.append(total)
    for_x = torch.stack(steps[:: 1 if ctx.reverse else -1], -1) if steps else grad.clone()
""",
            )
        ],
        check="test_flat_cost",
    ),
    Wrong(
        "a gradient for x only where both are wanted",
        edits=[
            (
                RETURN,
                "    if not all(ctx.needs_input_grad[:2]):\n        return None, for_x * _shifted(states, ctx.reverse), None\n"
                + RETURN,
            )
        ],
        check="test_each_alone",
    ),
    Wrong(
        "decay kept as an attribute",
        edits=[
            (SAVE, "    ctx.save_for_backward(output)\n    ctx.decay = decay\n"),
            (
                "    decay, states = ctx.saved_tensors\n",
                "    decay, (states,) = ctx.decay, ctx.saved_tensors\n",
            ),
        ],
        check="test_decay_is_watched",
    ),
    Wrong(
        "decay copied",
        edits=[(SAVE, "    ctx.save_for_backward(decay.clone(), output)\n")],
        check="test_decay_is_watched",
    ),
    Wrong(
        "a composite operator, which the compiler sees through",
        edits=[
            (REGISTER, ""),
            (FAKE_DEF, FAKE_DEF.replace("@scan.register_fake\n", "")),
            (
                AUTOGRAD,
                'import uuid\n\nNAME = f"kata_{uuid.uuid4().hex}"\nlibrary = torch.library.Library(NAME, "DEF")\nlibrary.define("scan(Tensor x, Tensor decay, bool reverse=False) -> Tensor")\n_plain = scan\nlibrary.impl("scan", lambda *a: _plain(*a), "CompositeImplicitAutograd")\nscan = getattr(torch.ops, NAME).scan\n',
            ),
        ],
        check="test_flat_cost",
    ),
    Wrong(
        "a fixed name, which a second import takes away from the first",
        edits=[('f"kata_{uuid.uuid4().hex}::scan"', '"kata::scan"')],
        check="test_imported_again",
        says="ends the operator",
    ),
    Wrong(
        "the name of the module, which a second import has as well",
        edits=[('f"kata_{uuid.uuid4().hex}::scan"', "\"kata_\" + __name__.replace('.', '_') + \"::scan\"")],
        check="test_imported_again",
        says="ends the operator",
    ),
    Wrong(
        "a namespace from a random stream, which a notebook seeds anew",
        edits=[
            ("import uuid\n", "import random\n"),
            ('f"kata_{uuid.uuid4().hex}::scan"', 'f"kata_{random.getrandbits(64):x}::scan"'),
        ],
        check="test_imported_again",
        says="registered anew",
    ),
    Wrong(
        "a library with a fixed namespace",
        code=BY_LIBRARY.replace('f"kata_{uuid.uuid4().hex}"', '"kata_scan"'),
        check="test_imported_again",
        says="second time",
    ),
    Wrong("no check", edits=[(TEST, "False")], check="test_bad_input"),
    Wrong(
        "broadcasts",
        edits=[(TEST, "x.dim() == 0 or torch.broadcast_shapes(x.shape, decay.shape) != x.shape")],
        check="test_bad_input",
    ),
    Wrong(
        "compares the number of elements",
        edits=[
            (TEST, "x.dim() == 0 or x.numel() != decay.numel()"),
            (STATES, STATES + "    decay = decay.reshape(x.shape)\n"),
        ],
        check="test_bad_input",
        says="(3, 4) and (4, 3)",
    ),
    Wrong("checks the time only", edits=[(TEST, "x.shape[-1:] != decay.shape[-1:]")], check="test_bad_input"),
    Wrong(
        "checks in the kernel only",
        edits=[(FAKE_DEF, FAKE_DEF.replace("    _check(x, decay)\n", ""))],
        check="test_bad_input",
    ),
    Wrong("RuntimeError", edits=[("raise ValueError(f", "raise RuntimeError(f")], check="test_bad_input"),
    Right("a library with a namespace of its own, NumPy, states computed again", code=BY_LIBRARY),
    Right(
        "a library with a fixed name, which is registered by the first import only",
        code=BY_LIBRARY.replace('f"kata_{uuid.uuid4().hex}"', '"kata_scan"')
        .replace("library = torch", 'FIRST = not hasattr(torch.ops.kata_scan, "scan")\nlibrary = torch')
        .replace('"DEF")', '"FRAGMENT")')
        .replace("library.define", "FIRST and library.define")
        .replace("library.impl(", "FIRST and library.impl(")
        .replace("\ntorch.library.register_", "\nFIRST and torch.library.register_"),
    ),
    Right(
        "states collected and stacked; backward turns around instead of going backwards",
        edits=[
            (STATES + STATE + LOOP, PLAIN),
            (
                FOR_X,
                "    later = _shifted(decay, not ctx.reverse)\n    for_x = scan(grad.flip(-1), later.flip(-1), ctx.reverse).flip(-1)\n",
            ),
            (FAKE, "    return torch.empty(x.size(), dtype=x.dtype, device=x.device)\n"),
        ],
    ),
    Wrong(
        "the earlier state by way of a division, which a decay of zero does not let",
        edits=[
            (SAVE, "    ctx.save_for_backward(decay, output, inputs[0])\n"),
            ("    decay, states = ctx.saved_tensors\n", "    decay, states, x = ctx.saved_tensors\n"),
            (RETURN, "    return for_x, for_x * (states - x) / decay, None\n"),
        ],
        check="test_gradients",
    ),
    Wrong(
        "a view of the gradient as rows of steps",
        edits=[
            (FOR_X, FOR_X.replace("scan(grad,", "scan(grad.view(-1, *grad.shape[-1:]).view(grad.shape),"))
        ],
        check="test_gradients",
    ),
    Wrong(
        "takes NaN for 0",
        edits=[(LOOP, LOOP.replace("+ x[..., t]", "+ x[..., t].nan_to_num()"))],
        check="test_values",
        says="holds NaN",
    ),
    Wrong(
        "a single step is cloned, with the strides of x",
        edits=[(STATES, "    if x.shape[-1] == 1:\n        return x.clone()\n" + STATES)],
        check="test_strides",
        says="not contiguous",
    ),
    Wrong(
        "keeps the states on ctx, where nothing watches them",
        edits=[
            (SAVE, "    ctx.states = output\n    ctx.save_for_backward(decay)\n"),
            (
                "    decay, states = ctx.saved_tensors\n",
                "    (decay,), states = ctx.saved_tensors, ctx.states\n",
            ),
        ],
        check="test_others_are_watched",
        says="the result was changed",
    ),
    Wrong(
        "keeps x on ctx, and makes the states from it again",
        edits=[
            (SAVE, "    ctx.x = inputs[0]\n    ctx.save_for_backward(decay)\n"),
            (
                "    decay, states = ctx.saved_tensors\n",
                "    (decay,) = ctx.saved_tensors\n    states = scan(ctx.x, decay, ctx.reverse)\n",
            ),
        ],
        check="test_others_are_watched",
        says="x was changed",
    ),
]
