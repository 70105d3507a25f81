"""Answers to inplace_breaks_backward that people write."""

from grader.authoring.specimen import Right, Works, Wrong

CHECK = """    if initial.shape != x.shape[1:]:
        raise ValueError(
            f"initial has shape {tuple(initial.shape)}, but one step of x has {tuple(x.shape[1:])}"
        )
"""
STEP = "        trace = decay * trace + step  # (*features), a new tensor: the product keeps the old one for backward\n"
RESULT = "    return torch.stack(traces) if traces else x.clone()  # (time, *features)\n"

SPECIMENS = [
    Wrong(
        "clones initial, and goes on in place: backward raises as before",
        code="""
import torch

def leaky_traces(x, decay, initial):
    trace = initial.clone()
    traces = torch.empty_like(x)
    for t in range(x.shape[0]):
        trace[...] = decay * trace + x[t]
        traces[t] = trace
    return traces
""",
        check="test_learnable_decay",
        says="inplace operation",
        rung="job",
    ),
    Wrong(
        "writes past the graph with .data: no error, and wrong gradients",
        code="""
import torch

def leaky_traces(x, decay, initial):
    trace = initial.clone()
    traces = []
    for t in range(x.shape[0]):
        new = decay * trace + x[t]
        trace.data.copy_(new.data)
        traces.append(new)
    return torch.stack(traces)
""",
        check="test_learnable_decay",
        rung="job",
    ),
    Wrong(
        "detaches the trace at each step: gradients end after one step",
        edits=[("decay * trace + step", "decay * trace.detach() + step")],
        check="test_learnable_decay",
        says="detached at every step",
        rung="job",
    ),
    Wrong(
        "detaches the first trace only",
        edits=[("    trace = initial\n", "    trace = initial.detach()\n")],
        check="test_gradients",
        says="initial",
        rung="job",
    ),
    Wrong(
        "truncated backpropagation: the graph reaches 32 steps back",
        edits=[
            ("for step in x:", "for t, step in enumerate(x):"),
            ("decay * trace + step", "decay * (trace.detach() if t and t % 32 == 0 else trace) + step"),
        ],
        check="test_gradient_through_many_steps",
        rung="job",
    ),
    Wrong(
        "goes on in place where no gradients are recorded",
        edits=[
            (
                STEP,
                "        new = decay * trace + step\n"
                "        trace = new if new.requires_grad else trace.copy_(new)\n",
            ),
            ("traces.append(trace)", "traces.append(trace.clone())"),
        ],
        check="test_two_sequences_from_one_initial",
        says="has changed initial",
        rung="job",
    ),
    Wrong(
        "keeps one tensor for all steps",
        edits=[
            ("    trace = initial\n", "    trace = initial.clone()\n"),
            (STEP, "        trace = trace.detach().copy_(decay * trace + step)\n"),
        ],
        check="test_worked_example",
        says="one tensor is written over",
        rung="job",
    ),
    Wrong(
        "adds the input before the trace fades",
        edits=[("decay * trace + step", "decay * (trace + step)")],
        check="test_worked_example",
        says="the input fades, too",
        rung="job",
    ),
    Wrong(
        "starts with the first input and forgets initial",
        edits=[("    trace = initial\n", "    trace = torch.zeros_like(initial)\n")],
        check="test_worked_example",
        says="initial is ignored",
        rung="job",
    ),
    Wrong(
        "checks no shape: what broadcasts passes",
        edits=[(CHECK, "")],
        check="test_errors",
    ),
    Wrong(
        "stacks nothing: no steps raise",
        edits=[(RESULT, "    return torch.stack(traces)\n")],
        check="test_empty",
    ),
    Wrong(
        "without steps, x itself: a leaf that nobody may write to",
        edits=[(RESULT, "    return torch.stack(traces) if traces else x\n")],
        check="test_caller_goes_on_in_place",
    ),
    Wrong(
        "without a loop: a cumulative sum of what is divided by powers of the decay",
        code="""
import torch

def leaky_traces(x, decay, initial):
    if initial.shape != x.shape[1:]:
        raise ValueError("initial has another shape than a step of x")
    steps = torch.arange(1, len(x) + 1, dtype=torch.float64).view(-1, *[1] * initial.dim())
    powers = decay.double() ** steps
    return (powers * (initial + (x / powers).cumsum(0))).to(x.dtype)
""",
        check="test_decays_of_0_and_1",
    ),
    Wrong(
        "float32 traces for everybody",
        edits=[(RESULT, RESULT.replace("torch.stack(traces)", "torch.stack(traces).float()"))],
        check="test_dtype_is_kept",
        says="wrong dtype",
    ),
    Works(
        "a new trace at each step, stacked",
        code="""
import torch

def leaky_traces(x, decay, initial):
    trace, traces = initial, []
    for t in range(x.shape[0]):
        trace = decay * trace + x[t]
        traces.append(trace)
    return torch.stack(traces)
""",
    ),
    Works(
        "the least that is to be changed: the name is bound anew",
        code="""
import torch

def leaky_traces(x, decay, initial):
    trace = initial
    traces = torch.empty_like(x)
    for t in range(x.shape[0]):
        trace = decay * trace + x[t]
        traces[t] = trace
    return traces
""",
    ),
    Right(
        "a check, a clone of initial, and traces concatenated",
        code="""
import torch

def leaky_traces(x, decay, initial):
    if tuple(initial.shape) != tuple(x.shape[1:]):
        raise ValueError("initial must look like one step of x")
    found = [x[:0]]
    trace = initial.clone()
    for t in range(len(x)):
        trace = torch.addcmul(x[t], decay, trace)
        found.append(trace.unsqueeze(0))
    return torch.cat(found)
""",
    ),
    Right(
        "the result is filled, from traces that are tensors of their own",
        code="""
import torch

def leaky_traces(x, decay, initial):
    if initial.shape != x.shape[1:]:
        raise ValueError("wrong shape of initial")
    traces, trace = torch.zeros_like(x), initial
    for t, step in enumerate(x.unbind()):
        trace = trace * decay + step
        traces[t] = trace
    return traces
""",
    ),
]
