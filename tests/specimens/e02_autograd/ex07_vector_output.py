"""Answers to vector_output that people write."""

from grader.authoring.specimen import Right, Works, Wrong

BACKWARD = "    losses.backward(gradient=_weights_for(losses, weights))\n"
LEAF = "    leaf = x.detach().requires_grad_()  # x itself stays as it is\n"
ENABLED = "    with torch.enable_grad():\n        y = fn(leaf)  # (*outputs)\n"
CONSTANT = """    if not y.requires_grad:  # a constant: there is no graph to walk
        return y, torch.zeros_like(x)
"""
GRAD = "    (product,) = torch.autograd.grad(y, leaf, weights, materialize_grads=True)  # (*inputs)\n"
CHECK = "    if weights.shape != outputs.shape:\n"

SPECIMENS = [
    Wrong(
        "backward of the plain sum: the weights are forgotten",
        edits=[(BACKWARD, "    losses.sum().backward()\n")],
        check="test_weighted_example",
        says="the weights are ignored",
        rung="job",
    ),
    Wrong(
        "the mean instead of the sum where no weights are given",
        edits=[("torch.ones_like(losses)", "torch.ones_like(losses) / losses.numel()")],
        check="test_no_weights",
        says="mean of the losses",
        rung="job",
    ),
    Wrong(
        "one backward for each loss",
        edits=[
            (
                BACKWARD,
                "    for loss, weight in zip(losses.flatten(), weights.flatten()):\n"
                "        (loss * weight).backward(retain_graph=True)\n",
            )
        ],
        check="test_one_pass",
        says="grows with losses",
        rung="job",
    ),
    Wrong(
        "clears .grad first",
        code="""
import torch

def weighted_backward(losses, weights=None):
    todo = [losses.grad_fn]
    while todo:
        node = todo.pop()
        if hasattr(node, "variable"):
            node.variable.grad = None
        elif node is not None:
            todo += [before for before, _ in node.next_functions]
    losses.backward(torch.ones_like(losses) if weights is None else weights)

def vjp(fn, x, v):
    x = x.detach().requires_grad_()
    y = fn(x)
    return y.detach(), torch.autograd.grad(y, x, v)[0]
""",
        check="test_adds_to_grad",
        says="older .grad is gone",
        rung="job",
    ),
    Wrong(
        "backward: leaves gradients on the parameters of fn",
        edits=[(GRAD, "    y.backward(weights)\n    product = leaf.grad\n")],
        check="test_vjp_adds_to_no_grad",
        says="the .grad of weight",
        rung="job",
    ),
    Wrong(
        "a Jacobian-vector product: the wrong side",
        code="""
import torch

def weighted_backward(losses, weights=None):
    losses.backward(torch.ones_like(losses) if weights is None else weights)

def vjp(fn, x, v):
    return torch.func.jvp(fn, (x,), (v,))
""",
        check="test_vjp_example",
        says="J @ v",
        rung="job",
    ),
    Wrong(
        "v of ones: the gradient of the sum",
        edits=[(GRAD, "    (product,) = torch.autograd.grad(y.sum(), leaf, materialize_grads=True)\n")],
        check="test_vjp_example",
        says="v is ignored",
        rung="job",
    ),
    Wrong(
        "weights the sum: gradients flow to the weights",
        edits=[(BACKWARD, "    _weights_for(losses, weights)\n    (losses * weights).sum().backward()\n")],
        check="test_weights_are_constants",
        says="a gradient on the weights",
    ),
    Wrong(
        "compares the number of weights only",
        edits=[
            (CHECK, "    if weights.numel() != outputs.numel():\n"),
            ("return weights.detach()", "return weights.detach().reshape(outputs.shape)"),
        ],
        check="test_other_shapes_are_refused",
    ),
    Wrong(
        "makes the caller's x require a gradient",
        edits=[(LEAF, "    leaf = x.requires_grad_()\n")],
        check="test_vjp_leaves_x_as_it_is",
        says="requires_grad",
    ),
    Wrong(
        "the value comes back with its graph",
        edits=[("    return y.detach(), product\n", "    return y, product\n")],
        check="test_vjp_results_are_constants",
        says="first result",
    ),
    Wrong(
        "does not switch gradients on",
        edits=[(ENABLED, "    y = fn(leaf)\n")],
        check="test_vjp_inside_no_grad",
    ),
    Wrong(
        "no way out for a constant",
        edits=[(CONSTANT, "")],
        check="test_vjp_of_a_constant",
    ),
    Wrong(
        "makes x anew on the CPU",
        edits=[(LEAF, "    leaf = x.detach().cpu().requires_grad_()\n    v = v.cpu()\n")],
        check="test_vjp_on_a_device",
    ),
    Works(
        "as the pages of backward and autograd.grad have it",
        code="""
import torch

def weighted_backward(losses, weights=None):
    if weights is None:
        weights = torch.ones_like(losses)
    losses.backward(weights)

def vjp(fn, x, v):
    x = x.detach().clone().requires_grad_(True)
    y = fn(x)
    (grad,) = torch.autograd.grad(y, x, grad_outputs=v)
    return y, grad
""",
    ),
    Works(
        "the weighted sum, and x that requires a gradient from now on",
        code="""
import torch

def weighted_backward(losses, weights=None):
    if weights is not None:
        losses = losses * weights
    losses.sum().backward()

def vjp(fn, x, v):
    x.requires_grad_()
    y = fn(x)
    return y, torch.autograd.grad((y * v).sum(), x)[0]
""",
    ),
    Works(
        "torch.autograd.functional.vjp",
        code="""
import torch

def weighted_backward(losses, weights=None):
    losses.backward(torch.ones_like(losses) if weights is None else weights)

def vjp(fn, x, v):
    return torch.autograd.functional.vjp(fn, x, v)
""",
    ),
    Right(
        "torch.autograd.functional.vjp behind a check",
        code="""
import torch

def weighted_backward(losses, weights=None):
    if weights is None:
        losses.sum().backward()
    elif weights.shape != losses.shape:
        raise ValueError("weights and losses differ in shape")
    else:
        (losses * weights.detach()).sum().backward()

def vjp(fn, x, v):
    at = x.detach()
    with torch.enable_grad():
        return torch.autograd.functional.vjp(fn, at, v.detach(), strict=False)
""",
    ),
    Right(
        "autograd.grad of the weighted sum, allow_unused",
        code="""
import torch

def weighted_backward(losses, weights=None):
    torch.autograd.backward(losses, torch.ones_like(losses) if weights is None else weights)

def vjp(fn, x, v):
    with torch.enable_grad():
        start = x.detach().clone().requires_grad_(True)
        y = fn(start)
        if y.shape != v.shape:
            raise ValueError("v has another shape than fn(x)")
        total = (y * v.detach()).sum() + 0 * start.sum()
    return y.detach(), torch.autograd.grad(total, start)[0]
""",
    ),
]
