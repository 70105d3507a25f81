"""Answers to vector_output that people write."""

from grader.authoring.specimen import Right, Wrong

BACKWARD = "    losses.backward(gradient=_weights_for(losses, weights))\n"
CHECK = "    if weights.shape != outputs.shape:\n"
CONSTANT = "    if not y.requires_grad:  # a constant: there is no graph to walk\n        return y, torch.zeros_like(x)\n"
LEAF = "    leaf = x.detach().requires_grad_()  # x itself stays as it is\n"
GRAD = "    (product,) = torch.autograd.grad(y, leaf, weights, materialize_grads=True)  # (*inputs)\n"
ENABLED = "    with torch.enable_grad():\n        y = fn(leaf)  # (*outputs)\n"

SPECIMENS = [
    Wrong(
        "a mask may be broadcast",
        edits=[
            (
                CHECK,
                "    if weights.dtype == torch.bool and weights.numel() == 1:\n        weights = weights.reshape(()).expand(outputs.shape)\n"
                + CHECK,
            )
        ],
        check="test_other_shapes_are_refused",
        says="mask",
    ),
    Wrong(
        "calls fn again where its result is a constant",
        edits=[
            (
                CONSTANT,
                "    if not y.requires_grad:\n        return fn(x.detach()).detach(), torch.zeros_like(x)\n",
            )
        ],
        check="test_vjp_of_a_constant",
        says="number of calls",
    ),
    Wrong(
        "keeps the graph, and with it all that it has saved",
        edits=[(BACKWARD, BACKWARD.replace("weights))", "weights), retain_graph=True)"))],
        check="test_adds_to_grad",
        says="a backward after weighted_backward",
    ),
    Wrong(
        "takes what no operation has made for a constant",
        edits=[
            (
                CONSTANT,
                CONSTANT.replace("not y.requires_grad", "y.grad_fn is None").replace(
                    "y, torch", "y.detach(), torch"
                ),
            )
        ],
        check="test_vjp_of_any_shapes",
        says="fn returns its argument",
    ),
    Wrong(
        "v of another shape leaves gradients switched on",
        edits=[
            (
                ENABLED,
                "    before = torch.is_grad_enabled()\n    torch.set_grad_enabled(True)\n    y = fn(leaf)\n",
            ),
            (GRAD, "    torch.set_grad_enabled(before)\n" + GRAD),
        ],
        check="test_vjp_inside_no_grad",
        says="another shape",
    ),
    Wrong(
        "backward of the plain sum: the weights are forgotten",
        edits=[
            (
                BACKWARD,
                "    _weights_for(losses, weights)\n    losses.sum().backward()\n",
            )
        ],
        check="test_weighted_sum_of_losses",
        says="the weights have no effect",
    ),
    Wrong(
        "the mean instead of the sum where no weights are given",
        edits=[("torch.ones_like(losses)", "torch.ones_like(losses) / max(losses.numel(), 1)")],
        check="test_no_weights",
    ),
    Wrong(
        "weights the sum: gradients flow to the weights",
        edits=[
            (
                BACKWARD,
                "    _weights_for(losses, weights)\n    (losses * weights).sum().backward()\n",
            )
        ],
        check="test_weights_are_constants",
    ),
    Wrong(
        "lets weights broadcast",
        edits=[(CHECK, "    if torch.broadcast_shapes(weights.shape, outputs.shape) != outputs.shape:\n")],
        check="test_other_shapes_are_refused",
    ),
    Wrong(
        "compares the number of weights only",
        edits=[
            (CHECK, "    if weights.numel() != outputs.numel():\n"),
            (
                "return weights.detach().to(outputs.dtype)",
                "return weights.detach().to(outputs.dtype).reshape(outputs.shape)",
            ),
        ],
        check="test_other_shapes_are_refused",
    ),
    Wrong(
        "leaves it to PyTorch to refuse: a RuntimeError",
        edits=[(CHECK, "    if False:\n")],
        check="test_other_shapes_are_refused",
        says="RuntimeError",
    ),
    Wrong(
        "checks the shape after the backward",
        edits=[
            (
                BACKWARD,
                "    (losses * weights.detach()).sum().backward()\n    _weights_for(losses, weights)\n",
            )
        ],
        check="test_other_shapes_are_refused",
        says="changes a gradient first",
    ),
    Wrong(
        "float32 weights for everybody",
        edits=[("weights.detach().to(outputs.dtype)", "weights.detach().float().to(outputs.dtype)")],
        check="test_weights_of_any_dtype",
    ),
    Wrong(
        "v counts in the dtype of x instead of that of fn(x)",
        edits=[("    weights = _weights_for(y, v)\n", "    weights = _weights_for(y, v.to(x.dtype))\n")],
        check="test_weights_count_in_the_dtype_of_what_they_weigh",
        says="float64 losses",
    ),
    Wrong(
        "one backward for each loss",
        edits=[
            (
                BACKWARD,
                """    weights = _weights_for(losses, weights)
    for loss, weight in zip(losses.flatten(), weights.flatten()):
        loss.backward(weight, retain_graph=True)
""",
            )
        ],
        check="test_one_pass",
        says="grows with losses",
    ),
    Wrong(
        "clears .grad first",
        edits=[
            (
                BACKWARD,
                """    weights = _weights_for(losses, weights)
    before = losses.grad_fn.next_functions
    todo = [f for f, _ in before]
    while todo:
        f = todo.pop()
        if hasattr(f, "variable"):
            f.variable.grad = None
        elif f is not None:
            todo += [g for g, _ in f.next_functions]
    losses.backward(gradient=weights)
""",
            )
        ],
        check="test_adds_to_grad",
        says="the older .grad is gone",
    ),
    Wrong(
        "makes the caller's x require a gradient",
        edits=[(LEAF, "    leaf = x.requires_grad_()\n")],
        check="test_vjp_leaves_no_trace",
    ),
    Wrong(
        "backward: leaves gradients on the parameters of fn",
        edits=[
            (
                GRAD,
                "    y.backward(weights, inputs=None)\n"
                "    product = torch.zeros_like(x) if leaf.grad is None else leaf.grad\n",
            )
        ],
        check="test_vjp_leaves_no_trace",
        says="parameter",
    ),
    Wrong(
        "the value comes back with its graph",
        edits=[("    return y.detach(), product\n", "    return y, product\n")],
        check="test_vjp_results_are_constants",
        says="first result",
    ),
    Wrong(
        "a product that can be differentiated again",
        edits=[("materialize_grads=True)", "materialize_grads=True, create_graph=True)")],
        check="test_vjp_results_are_constants",
        says="second result",
    ),
    Wrong(
        "does not switch gradients on",
        edits=[(ENABLED, "    y = fn(leaf)\n")],
        check="test_vjp_inside_no_grad",
    ),
    Wrong(
        "switches gradients on for good",
        edits=[(ENABLED, "    torch.set_grad_enabled(True)\n    y = fn(leaf)\n")],
        check="test_vjp_inside_no_grad",
    ),
    Wrong(
        "no zeros for what is not used",
        edits=[(", materialize_grads=True", "")],
        check="test_vjp_of_a_constant",
    ),
    Wrong(
        "no way out for a constant",
        edits=[(CONSTANT, "")],
        check="test_vjp_of_a_constant",
    ),
    Wrong(
        "builds the Jacobian, row by row",
        edits=[
            (
                GRAD,
                """    rows = [
        torch.autograd.grad(number, leaf, retain_graph=True, materialize_grads=True)[0] for number in y.flatten()
    ]
    product = sum((w * row for w, row in zip(weights.flatten(), rows)), torch.zeros_like(x)).to(x.dtype)
""",
            )
        ],
        check="test_one_pass",
        says="grows with outputs",
    ),
    Wrong(
        "a Jacobian-vector product: the wrong side",
        edits=[
            (
                GRAD,
                """    if y.shape == x.shape:
        product = torch.func.jvp(fn, (x.detach(),), (weights.to(x.dtype),))[1].detach().to(x.dtype)
    else:
        (product,) = torch.autograd.grad(y, leaf, weights, materialize_grads=True)
""",
            )
        ],
        check="test_weights_of_any_dtype",
    ),
    Wrong(
        "v of ones: the gradient of the sum",
        edits=[(GRAD, "    (product,) = torch.autograd.grad(y.sum(), leaf, materialize_grads=True)\n")],
        check="test_vjp_of_any_shapes",
        says="v has no effect",
    ),
    Wrong(
        "flattens the product",
        edits=[("    return y.detach(), product\n", "    return y.detach(), product.flatten()\n")],
        check="test_vjp_of_any_shapes",
    ),
    Wrong(
        "zeros of the default dtype",
        edits=[("torch.zeros_like(x)", "torch.zeros(x.shape)")],
        check="test_vjp_of_a_constant",
        says="float32",
    ),
    Wrong(
        "compares no shapes for a constant",
        edits=[
            (
                "    weights = _weights_for(y, v)\n" + CONSTANT,
                CONSTANT + "    weights = _weights_for(y, v)\n",
            )
        ],
        check="test_vjp_of_a_constant",
        says="no error",
    ),
    Wrong(
        "starts from x itself where it requires a gradient",
        edits=[("leaf = x.detach()", "leaf = x if x.requires_grad else x.detach()")],
        check="test_vjp_leaves_no_trace",
    ),
    Right(
        "autograd turns the weights into the right dtype itself",
        edits=[("weights.detach().to(outputs.dtype)", "weights.detach()")],
    ),
    Right(
        "a weighted sum of constants, and torch.func",
        code="""
import torch

def weighted_backward(losses, weights=None):
    if weights is None:
        return losses.sum().backward()
    if tuple(weights.shape) != tuple(losses.shape):
        raise ValueError("weights must have the shape of losses")
    with torch.no_grad():
        constants = weights.clone().type_as(losses)
    torch.dot(losses.reshape(-1), constants.reshape(-1)).backward()

def vjp(fn, x, v):
    with torch.enable_grad():
        y, pull = torch.func.vjp(fn, x.detach())
    if v.size() != y.size():
        raise ValueError(f"{v.size()} is not {y.size()}")
    (product,) = pull(v.detach().to(y))
    return y.detach(), product.detach()
""",
    ),
    Right(
        "autograd.functional, and torch.autograd.backward",
        code="""
import torch
from torch.autograd import backward, functional

def weighted_backward(losses, weights=None):
    weights = torch.ones(losses.shape) if weights is None else weights
    if weights.shape != losses.shape:
        raise ValueError
    backward([losses], [weights.to(losses.dtype)])

def vjp(fn, x, v):
    def checked(x):
        y = fn(x)
        if y.shape != v.shape:
            raise ValueError("v does not fit")
        kept.append(y.dtype)
        return y.double()

    kept = []
    y, product = functional.vjp(checked, x.detach(), v.detach().double())
    return y.to(kept[0]), product
""",
    ),
    Wrong(
        "weighs by a hook that stays on the losses",
        edits=[
            (
                BACKWARD,
                "    weights = _weights_for(losses, weights)\n    losses.register_hook(lambda g: g * weights)\n    losses.sum().backward(retain_graph=True)\n",
            )
        ],
        check="test_adds_to_grad",
        says="in between",
    ),
    Wrong(
        "finds the leaves by itself, and gives them one gradient for all",
        edits=[
            (
                BACKWARD,
                """    leaves, todo = [], [losses.grad_fn]
    while todo:
        node = todo.pop()
        leaf = getattr(node, "variable", None)
        if leaf is not None and all(leaf is not other for other in leaves):
            leaves.append(leaf)
        todo += [behind for behind, _ in node.next_functions if behind is not None]
    found = torch.autograd.grad(losses, leaves, _weights_for(losses, weights), allow_unused=True)
    for leaf, gradient in zip(leaves, found, strict=True):
        leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient
""",
            )
        ],
        check="test_adds_to_grad",
        says="in between",
    ),
    Wrong(
        "gives fn(x) in the dtype of its product with v",
        edits=[("    return y.detach(), product", "    return y.detach().to((y * v).dtype), product")],
        check="test_weights_of_any_dtype",
        says="wrong dtype of vjp(fn, x, v)[0]",
    ),
    Wrong(
        "gives fn(x) with its graph where it does not depend on x",
        edits=[
            (GRAD, GRAD.replace("materialize_grads", "allow_unused")),
            (
                "    return y.detach(), product",
                "    if product is None:\n        return y, torch.zeros_like(x)\n    return y.detach(), product",
            ),
        ],
        check="test_vjp_of_a_constant",
        says="requires a gradient",
    ),
    Wrong(
        "x times 0 for zeros: NaN where x is inf",
        edits=[(CONSTANT, CONSTANT.replace("torch.zeros_like(x)", "x.detach() * 0"))],
        check="test_vjp_of_a_constant",
        says="nan",
    ),
    Wrong(
        "zeros that require a gradient where x does",
        edits=[(CONSTANT, CONSTANT.replace("zeros_like(x)", "zeros_like(x, requires_grad=x.requires_grad)"))],
        check="test_vjp_of_a_constant",
        says="requires a gradient",
    ),
    Wrong(
        "takes any error of the backward for a sign that fn(x) does not depend on x",
        edits=[
            (CONSTANT, ""),
            (
                GRAD,
                """    try:
        (product,) = torch.autograd.grad(y, leaf, weights)
    except RuntimeError:
        product = torch.zeros_like(x, requires_grad=False)
""",
            ),
        ],
        check="test_vjp_of_a_constant",
        says="no error",
    ),
    Wrong(
        "makes the zeros on the CPU",
        edits=[(CONSTANT, CONSTANT.replace("zeros_like(x)", "zeros(x.shape, dtype=x.dtype)"))],
        check="test_vjp_on_a_device",
        says="ones_like",
    ),
    Wrong(
        "another name for the weights",
        edits=[
            ('losses: Float[Tensor, "*batch"], weights:', 'losses: Float[Tensor, "*batch"], by:'),
            (
                "    if weights is None:\n        weights =",
                "    weights = by\n    if weights is None:\n        weights =",
            ),
        ],
        check="test_weights_are_constants",
        says="weights",
    ),
]
