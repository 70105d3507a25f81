"""Answers to inplace_breaks_backward that people write."""

from grader.authoring.specimen import Right, Wrong

STEP = "        trace = decay * trace + step  # (*features), a new tensor: the product keeps the old one for backward\n"
START = "    trace = initial\n    traces = []\n"
CHECK = "    if initial.shape != x.shape[1:]:\n"
END = "    return torch.stack(traces) if traces else x.clone()  # (time, *features)\n"
LOOP = START + "    for step in x:\n" + STEP + "        traces.append(trace)\n" + END

SPECIMENS = [
    Wrong(
        "goes on in place where no gradients are recorded",
        edits=[
            (
                STEP,
                "        trace = decay * trace + step if torch.is_grad_enabled() else trace.mul_(decay).add_(step)\n",
            ),
            ("traces.append(trace)", "traces.append(trace if torch.is_grad_enabled() else trace.clone())"),
        ],
        check="test_inputs_are_left_alone",
        says="initial",
    ),
    Wrong(
        "nothing remains, so x is the trace: the caller's own x",
        edits=[(START, "    if not decay.requires_grad and not decay.any():\n        return x\n" + START)],
        check="test_caller_goes_on_in_place",
        says="decay of 0.0",
    ),
    Wrong(
        "recursion, which ends at a thousand steps",
        edits=[
            (
                LOOP,
                """    def upto(t):
        if t < 0:
            return initial, []
        before, traces = upto(t - 1)
        now = decay * before + x[t]
        return now, [*traces, now]

    traces = upto(len(x) - 1)[1]
    return torch.stack(traces) if traces else x.clone()
""",
            )
        ],
        check="test_gradients_through_many_steps",
        says="RecursionError",
    ),
    Wrong(
        "an initial trace of zeros is none, and gets no gradient",
        edits=[(START, "    trace = initial if initial.any() else 0.0\n    traces = []\n")],
        check="test_gradients_at_the_ends",
        says="all zeros",
    ),
    Wrong(
        "clones initial, and goes on in place: backward raises as before",
        edits=[
            (
                LOOP,
                """    trace = initial.clone()
    traces = torch.empty_like(x)
    for t in range(x.shape[0]):
        trace[...] = decay * trace + x[t]
        traces[t] = trace
    return traces
""",
            )
        ],
        check="test_gradients",
        says="inplace operation",
    ),
    Wrong(
        "writes past the graph with .data: no error, and wrong gradients",
        edits=[
            (
                LOOP,
                """    trace = initial.clone()
    traces = []
    for t in range(x.shape[0]):
        trace = trace * 1.0
        trace.data.mul_(decay).add_(x[t])
        traces.append(trace)
    return torch.stack(traces) if traces else x.clone()
""",
            )
        ],
        check="test_gradients",
    ),
    Wrong(
        "detaches the trace at each step: gradients end after one step",
        edits=[(STEP, "        trace = decay * trace.detach() + step\n")],
        check="test_gradients",
    ),
    Wrong(
        "detaches the decay",
        edits=[(STEP, "        trace = decay.detach() * trace + step\n")],
        check="test_some_inputs_require_gradients",
    ),
    Wrong(
        "detaches the first trace only",
        edits=[(START, "    trace = initial.detach().clone()\n    traces = []\n")],
        check="test_gradients",
        says="initial",
    ),
    Wrong(
        "clones before each product, but multiplies the caller's initial in place at the end",
        edits=[
            (
                END,
                """    with torch.no_grad():
        initial.copy_(trace)
    return torch.stack(traces) if traces else x.clone()
""",
            )
        ],
        check="test_inputs_are_left_alone",
        says="initial",
    ),
    Wrong(
        "reads the last trace out of the result that is being written",
        edits=[
            (
                LOOP,
                """    traces = torch.empty_like(x)
    for t in range(x.shape[0]):
        traces[t] = decay * (traces[t - 1] if t else initial) + x[t]
    return traces
""",
            )
        ],
        check="test_gradients",
        says="inplace operation",
    ),
    Wrong(
        "keeps one tensor for all steps",
        edits=[
            (
                LOOP,
                """    trace = initial.clone()
    traces = []
    for step in x:
        trace = trace.mul_(decay.clone()).add_(step) if not decay.requires_grad else trace * decay + step
        traces.append(trace)
    return torch.stack(traces) if traces else x.clone()
""",
            )
        ],
        check="test_values",
    ),
    Wrong(
        "checks no shape: what broadcasts passes",
        edits=[(CHECK, "    if False:\n")],
        check="test_other_shapes_are_refused",
        says="no error",
    ),
    Wrong(
        "accepts what broadcasts to a step",
        edits=[(CHECK, "    if torch.broadcast_shapes(initial.shape, x.shape[1:]) != x.shape[1:]:\n")],
        check="test_other_shapes_are_refused",
    ),
    Wrong(
        "compares the number of dims only",
        edits=[(CHECK, "    if initial.dim() != x.dim() - 1:\n")],
        check="test_other_shapes_are_refused",
    ),
    Wrong(
        "an assert instead of an error",
        edits=[(CHECK, "    assert initial.shape == x.shape[1:]\n    if False:\n")],
        check="test_other_shapes_are_refused",
        says="AssertionError",
    ),
    Wrong(
        "stacks nothing: no steps raise",
        edits=[(END, "    return torch.stack(traces)\n")],
        check="test_no_steps",
    ),
    Wrong(
        "returns x itself where there are no steps, and one trace as a view",
        edits=[
            (START, "    x = x.contiguous()\n    trace = initial\n    traces = []\n"),
            (STEP, "        trace = x[0].add_(decay * trace) if len(x) == 1 else decay * trace + step\n"),
            (END, "    return torch.stack(traces) if len(traces) > 1 else x\n"),
        ],
        check="test_caller_goes_on_in_place",
    ),
    Wrong(
        "keeps what the caller will overwrite: the result is saved for backward",
        code="""
import torch

class Traces(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, decay, initial):
        trace, traces = initial, []
        for step in x:
            trace = decay * trace + step
            traces.append(trace)
        result = torch.stack(traces) if traces else x.clone()
        ctx.save_for_backward(decay, initial, result)
        return result

    @staticmethod
    def backward(ctx, grad):
        decay, initial, result = ctx.saved_tensors
        before = torch.cat([initial[None], result[:-1]])
        flowing, flows = torch.zeros_like(initial), []
        for g in grad.flip(0):
            flowing = g + flowing
            flows.append(flowing)
            flowing = flowing * decay
        flows = torch.stack(flows[::-1])
        return flows, (flows * before).sum_to_size(decay.shape), flowing

def leaky_traces(x, decay, initial):
    if initial.shape != x.shape[1:]:
        raise ValueError("initial")
    return Traces.apply(x, decay, initial)
""",
        check="test_caller_goes_on_in_place",
        says="inplace operation",
    ),
    Wrong(
        "adds the input before the trace fades",
        edits=[(STEP, "        trace = decay * (trace + step)\n")],
        check="test_values",
    ),
    Wrong(
        "starts with the first input and forgets initial",
        edits=[(START, "    trace = torch.zeros_like(initial)\n    traces = []\n")],
        check="test_values",
    ),
    Wrong(
        "an exponential moving average",
        edits=[(STEP, "        trace = decay * trace + (1 - decay) * step\n")],
        check="test_values",
    ),
    Wrong(
        "divides by powers of the decay, one of which is 0",
        edits=[
            (
                LOOP,
                """    powers = decay ** torch.arange(1, len(x) + 1).view(-1, *[1] * initial.dim())
    return powers * (initial + (x / powers).cumsum(0))
""",
            )
        ],
        check="test_gradients_at_the_ends",
    ),
    Wrong(
        "float32 traces for everybody",
        edits=[(START, "    trace, x, decay = initial.float(), x.float(), decay.float()\n    traces = []\n")],
        check="test_dtype",
        says="float32",
    ),
    Wrong(
        "an empty result of the default dtype",
        edits=[(END, "    return torch.stack(traces) if traces else torch.empty(0, *initial.shape)\n")],
        check="test_no_steps",
        says="dtype",
    ),
    Wrong(
        "sums up where the decay is 1, without a gradient for it",
        edits=[
            (
                "    trace = initial\n",
                "    if (decay == 1).all():\n        return initial + x.cumsum(0)\n    trace = initial\n",
            )
        ],
        check="test_gradients_at_the_ends",
    ),
    Right(
        "lerp-free: addcmul, and a list that starts with initial",
        code="""
import torch

def leaky_traces(x, decay, initial):
    steps, *features = x.size()
    if list(initial.size()) != features:
        raise ValueError("initial must look like one step of x")
    states = [initial]
    for t in range(steps):
        states.append(torch.addcmul(x[t], decay, states[-1]))
    return torch.cat([x[:0], *(s.unsqueeze(0) for s in states[1:])], dim=0)
""",
    ),
    Right(
        "in place where autograd keeps the old value itself",
        edits=[
            (
                LOOP,
                """    trace = initial.clone()
    traces = torch.empty_like(x)
    for t in range(x.shape[0]):
        trace.mul_(decay).add_(x[t])
        traces[t] = trace
    return traces
""",
            )
        ],
    ),
    Wrong(
        "without steps, x itself: a leaf that nobody may write to",
        edits=[(END, "    return torch.stack(traces) if traces else x\n")],
        check="test_caller_goes_on_in_place",
        says="without steps",
    ),
    Wrong(
        "truncated backpropagation: the graph reaches 32 steps back",
        edits=[
            (
                STEP,
                "        trace = decay * (trace.detach() if len(traces) % 32 == 31 else trace) + step\n",
            )
        ],
        check="test_gradients_through_many_steps",
        says="150 steps",
    ),
    Right(
        "in place, on clones that nobody has saved",
        edits=[
            (
                LOOP,
                """    trace = initial.clone()
    traces = torch.empty_like(x)
    for t in range(x.shape[0]):
        trace = trace.clone().mul(decay).add_(x[t])
        traces[t] = trace
    return traces
""",
            )
        ],
    ),
    Right(
        "one matrix of powers, and no loop",
        code="""
import torch

def leaky_traces(x, decay, initial):
    if initial.shape != x.shape[1:]:
        raise ValueError("initial has another shape than a step of x")
    everything = torch.cat([initial[None], x])
    n = len(everything)
    ages = torch.arange(n).unsqueeze(1) - torch.arange(n).unsqueeze(0)
    ages = ages.view(n, n, *[1] * initial.dim())
    past = ages >= 0
    powers = torch.where(past, decay ** ages.clamp(min=0), 0)
    return (powers.to(x.dtype) * everything[None]).sum(1)[1:]
""",
    ),
    Wrong(
        "divides by powers of the decay, which become 0 in a long sequence",
        edits=[
            (
                LOOP,
                """    if len(x) == 0:
        return x.clone()
    steps = torch.arange(1, len(x) + 1, dtype=x.dtype, device=x.device)
    powers = decay ** steps.view(-1, *[1] * initial.dim())
    if bool((powers[0] > 0).all()):
        return powers * (initial + (x / powers).cumsum(0))
"""
                + LOOP,
            )
        ],
        check="test_gradients_through_many_steps",
    ),
    Wrong(
        "sums of logarithms, which lose the small against the large",
        edits=[
            (
                START,
                """    if decay.dim() == 0 and len(x) > 500 and (x > 0).all() and decay > 0 and not decay.requires_grad:
        ages = torch.arange(len(x), dtype=x.dtype, device=x.device)
        ages = ages.view(-1, *[1] * initial.dim()) * decay.log()
        return torch.exp(x.log().sub(ages).logcumsumexp(0) + ages) + initial * decay * torch.exp(ages)
"""
                + START,
            )
        ],
        check="test_gradients_through_many_steps",
        says="decay of 0.5",
    ),
]
