"""Answers to grad_of_squares that people write."""

from grader.authoring.specimen import Right, Wrong

LEAF = "    leaf = params.detach().clone().requires_grad_()  # (*shape), the start of a graph of its own\n"
FORWARD = """    with torch.enable_grad():
        value = residuals(leaf).square().sum()  # ()
"""
BACKWARD = "    value.backward(inputs=[leaf])  # fills leaf.grad, and no other\n"
RETURN = "    return value.detach(), leaf.grad\n"
BODY = LEAF + FORWARD + BACKWARD + RETURN


def instead(body):
    return [(BODY, body)]


SPECIMENS = [
    Wrong(
        "takes the caller's params where it may, so that residuals that look at it count twice",
        edits=instead("""
    leaf = params if params.is_leaf else params.detach()
    required, old = leaf.requires_grad, leaf.grad
    leaf.requires_grad_()
    leaf.grad = None
    with torch.enable_grad():
        value = residuals(leaf).square().sum()
    value.backward(inputs=[leaf])
    gradient, leaf.grad = leaf.grad, old
    leaf.requires_grad_(required)
    return value.detach(), gradient
"""),
        check="test_params_without_gradients",
        says="if residuals uses params",
    ),
    Wrong(
        "computes in float32 where params is half",
        edits=[
            (
                LEAF,
                "    leaf = params.detach().to(torch.promote_types(params.dtype, torch.float32)).requires_grad_()\n",
            ),
            (RETURN, "    return value.detach(), leaf.grad.to(params.dtype)\n"),
        ],
        check="test_called_once",
        says="torch.bfloat16",
    ),
    Wrong(
        "an error in residuals leaves gradients switched on",
        edits=[
            (
                FORWARD,
                "    before = torch.is_grad_enabled()\n"
                "    torch.set_grad_enabled(True)\n"
                "    value = residuals(leaf).square().sum()\n"
                "    torch.set_grad_enabled(before)\n",
            )
        ],
        check="test_inside_no_grad",
        says="after an error",
    ),
    Wrong(
        "makes the caller's params require gradients",
        edits=[(LEAF, "    leaf = params.requires_grad_()\n")],
        check="test_params_without_gradients",
        says="requires_grad",
    ),
    Wrong(
        "clears the caller's gradient, and fills it",
        edits=instead("""
    required = params.requires_grad
    params.requires_grad_()
    params.grad = None
    with torch.enable_grad():
        value = residuals(params).square().sum()
    value.backward(inputs=[params])
    gradient = params.grad
    params.requires_grad_(required)
    return value.detach(), gradient
"""),
        check="test_leaf_with_a_gradient",
        says="params.grad after",
    ),
    Wrong(
        "adds to what lies in the caller's gradient",
        edits=instead("""
    leaf = params if params.requires_grad else params.detach().requires_grad_()
    with torch.enable_grad():
        value = residuals(leaf).square().sum()
    value.backward(inputs=[leaf])
    gradient = leaf.grad.clone()
    if leaf is params:
        leaf.grad = None
    return value.detach(), gradient
"""),
        check="test_leaf_with_a_gradient",
    ),
    Wrong(
        "takes the caller's gradient away",
        edits=instead("""
    x = params.detach().clone().requires_grad_()
    params.grad = None
    with torch.enable_grad():
        value = residuals(x).square().sum()
    value.backward(inputs=[x])
    return value.detach(), x.grad
"""),
        check="test_leaf_with_a_gradient",
        says="takes away",
    ),
    Wrong(
        "a clone that is no leaf",
        edits=[
            (LEAF, "    leaf = params.clone().requires_grad_()\n"),
            (BACKWARD, "    value.backward()\n"),
            (
                RETURN,
                "    return value.detach(), torch.zeros_like(leaf) if leaf.grad is None else leaf.grad\n",
            ),
        ],
        check="test_params_that_were_computed",
    ),
    Wrong(
        "retains the gradient of a clone: the backward runs on into the caller's graph",
        edits=[
            (
                LEAF,
                "    with torch.enable_grad():\n        leaf = params.clone()\n    leaf.requires_grad_()\n    leaf.retain_grad()\n",
            ),
            (BACKWARD, "    value.backward()\n"),
        ],
        check="test_params_that_were_computed",
        says="computed from",
    ),
    Wrong(
        "fills the gradients of all weights",
        edits=[(BACKWARD, "    value.backward()\n")],
        check="test_other_tensors_get_no_gradient",
        says="has got",
    ),
    Wrong(
        "fills the gradients of all weights, and clears those of a module",
        edits=[
            (
                BACKWARD,
                """    value.backward()
    if isinstance(residuals, torch.nn.Module):
        residuals.zero_grad()
""",
            )
        ],
        check="test_other_tensors_get_no_gradient",
        says="has lost",
    ),
    Wrong(
        "a value with its graph",
        edits=[(RETURN, "    return value, leaf.grad\n")],
        check="test_no_graph",
        says="the value",
    ),
    Wrong(
        "a gradient that can be derived again",
        edits=[
            (BACKWARD, "    (gradient,) = torch.autograd.grad(value, [leaf], create_graph=True)\n"),
            (RETURN, "    return value.detach(), gradient\n"),
        ],
        check="test_no_graph",
        says="the gradient",
    ),
    Wrong(
        "records nothing inside no_grad",
        edits=[(FORWARD, "    value = residuals(leaf).square().sum()\n")],
        check="test_inside_no_grad",
    ),
    Wrong(
        "switches gradients on for good",
        edits=[
            (
                FORWARD,
                "    torch.set_grad_enabled(True)\n    value = residuals(leaf).square().sum()\n",
            )
        ],
        check="test_inside_no_grad",
        says="is_grad_enabled",
    ),
    Wrong(
        "switches gradients off at the end",
        edits=[(RETURN, "    torch.set_grad_enabled(False)\n" + RETURN)],
        check="test_inside_no_grad",
    ),
    Wrong(
        "half the sum of squares",
        edits=[(".square().sum()", ".square().sum() / 2")],
        check="test_value_and_gradient",
        says="half",
    ),
    Wrong(
        "the mean square", edits=[(".square().sum()", ".square().mean()")], check="test_value_and_gradient"
    ),
    Wrong("the norm", edits=[(".square().sum()", ".norm()")], check="test_value_and_gradient"),
    Wrong(
        "the square of the sum",
        edits=[(".square().sum()", ".sum().square()")],
        check="test_value_and_gradient",
    ),
    Wrong(
        "a dot product: only for one dimension",
        edits=[
            (
                "        value = residuals(leaf).square().sum()",
                "        r = residuals(leaf)\n        value = r @ r",
            )
        ],
        check="test_any_shape",
    ),
    Wrong(
        "gradients of a flat copy",
        edits=[
            (LEAF, "    flat = params.detach().reshape(-1).clone().requires_grad_()\n"),
            ("residuals(leaf)", "residuals(flat.view(params.shape))"),
            (BACKWARD, "    value.backward(inputs=[flat])\n"),
            (RETURN, "    return value.detach(), flat.grad\n"),
        ],
        check="test_any_shape",
        says="shape",
    ),
    Wrong(
        "finite differences",
        edits=instead("""
    params = params.detach()
    f = lambda p: residuals(p.view(params.shape)).detach().square().sum()
    flat = params.reshape(-1)
    steps = 1e-4 * torch.eye(flat.numel(), dtype=params.dtype)
    gradient = torch.stack([(f(flat + s) - f(flat - s)) / 2e-4 for s in steps]).view(params.shape)
    return f(flat), gradient
"""),
        check="test_value_and_gradient",
    ),
    Wrong(
        "calls residuals a second time for the value",
        edits=[(RETURN, "    return residuals(params).square().sum().detach(), leaf.grad\n")],
        check="test_called_once",
    ),
    Wrong(
        "computes in float32",
        edits=[(LEAF, "    leaf = params.detach().float().clone().requires_grad_()\n")],
        check="test_value_and_gradient",
    ),
    Wrong(
        "the value in the dtype of params",
        edits=[(RETURN, "    return value.detach().to(params.dtype), leaf.grad\n")],
        check="test_dtypes",
        says="the value",
    ),
    Wrong(
        "expects params to be contiguous",
        edits=[(LEAF, "    leaf = params.detach().view(-1).view(params.shape).clone().requires_grad_()\n")],
        check="test_strided_and_expanded_params",
    ),
    Wrong(
        "keeps one leaf between calls",
        edits=[
            ("\n\ndef grad_of_squares(", "\n\nleaves = {}\n\n\ndef grad_of_squares("),
            (
                LEAF,
                """    key = (params.data_ptr(), params.shape, params.stride())
    leaf = leaves.setdefault(key, params.detach().clone().requires_grad_())
    if leaf.grad is not None:
        leaf.grad.zero_()
""",
            ),
        ],
        check="test_call_after_call",
    ),
    Wrong(
        "remembers results by the objects passed",
        edits=[
            ("\n\ndef grad_of_squares(", "\n\nknown = {}\n\n\ndef grad_of_squares("),
            (LEAF, "    if (residuals, params) in known:\n        return known[residuals, params]\n" + LEAF),
            (
                RETURN,
                "    known[residuals, params] = value.detach(), leaf.grad\n    return known[residuals, params]\n",
            ),
        ],
        check="test_call_after_call",
        says="has moved",
    ),
    Wrong(
        "the number alone", edits=[("value.detach(), ", "value.item(), ")], check="test_value_and_gradient"
    ),
    Wrong(
        "starts from params itself where it requires gradients",
        edits=[
            (
                "    leaf = params.detach().clone().requires_grad_()",
                "    leaf = params if params.requires_grad else params.detach().clone().requires_grad_()",
            ),
            (
                "    value.backward(inputs=[leaf])  # fills leaf.grad, and no other\n    return value.detach(), leaf.grad",
                "    return value.detach(), torch.autograd.grad(value, leaf)[0]",
            ),
        ],
        check="test_params_that_were_computed",
    ),
    Right(
        "with autograd.grad on a detached view",
        edits=instead("""
    with torch.enable_grad():
        x = params.detach().requires_grad_(True)
        r = residuals(x)
        loss = torch.sum(r * r)
        return loss.detach(), torch.autograd.grad(loss, x)[0]
"""),
    ),
    Wrong(
        "the square of the root, whose gradient at 0 is NaN",
        edits=[(".square().sum()  # ()", ".square().sum().sqrt().square()")],
        check="test_perfect_fit",
        says="all residuals are 0",
    ),
    Right(
        "with torch.func",
        edits=instead("""
    def sum_of_squares(p):
        return (residuals(p) ** 2).sum()

    gradient, value = torch.func.grad_and_value(sum_of_squares)(params.detach())
    return value.detach(), gradient.detach()
"""),
    ),
    Right(
        "a clone that need not be a leaf, because it is named",
        edits=[
            (
                LEAF,
                "    leaf = params.clone()\n    if not leaf.requires_grad:\n        leaf.requires_grad_()\n",
            )
        ],
    ),
    Right(
        "a vector-Jacobian product with the residuals",
        edits=instead("""
    with torch.enable_grad():
        x = torch.empty_like(params).copy_(params.detach()).requires_grad_()
        r = residuals(x)
    x.grad = torch.zeros_like(x)
    r.backward(2 * r.detach(), inputs=[x])
    return torch.linalg.vector_norm(r.detach()) ** 2, x.grad.clone()
"""),
    ),
    Wrong(
        "residuals as a view, which those of a transposed matrix have not",
        edits=[
            (
                FORWARD,
                "    with torch.enable_grad():\n        r = residuals(leaf).view(-1)\n        value = r @ r\n",
            )
        ],
        check="test_any_shape",
        says="view",
    ),
    Wrong(
        "makes the leaf anew from the numbers, on the CPU",
        edits=[
            (
                LEAF,
                "    leaf = torch.tensor(params.tolist(), dtype=params.dtype).view(params.shape).requires_grad_()\n",
            )
        ],
        check="test_on_a_device",
        says="calls residuals",
    ),
]
