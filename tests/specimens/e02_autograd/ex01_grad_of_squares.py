"""Answers to grad_of_squares that people write."""

from grader.authoring.specimen import Right, Works, Wrong

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
        "makes the caller's params require gradients",
        edits=[(LEAF, "    leaf = params.requires_grad_()\n")],
        rung="job",
        check="test_params_are_left_alone",
        says="requires_grad",
    ),
    Wrong(
        "half the sum of squares",
        edits=[(".square().sum()", ".square().sum() / 2")],
        rung="job",
        check="test_values",
        says="half",
    ),
    Wrong(
        "gradients of a flat copy",
        edits=[
            (LEAF, "    flat = params.detach().reshape(-1).clone().requires_grad_()\n"),
            ("residuals(leaf)", "residuals(flat.view(params.shape))"),
            (BACKWARD, "    value.backward(inputs=[flat])\n"),
            (RETURN, "    return value.detach(), flat.grad\n"),
        ],
        rung="job",
        check="test_values",
        says="shape",
    ),
    Wrong(
        "a dot product: only for one dimension",
        edits=[
            (
                "        value = residuals(leaf).square().sum()",
                "        r = residuals(leaf)\n        value = r @ r",
            )
        ],
        rung="fine",
        check="test_any_shape",
    ),
    Wrong(
        "a clone that is no leaf where params requires gradients",
        edits=[(LEAF, "    leaf = params.clone().requires_grad_()\n"), (BACKWARD, "    value.backward()\n")],
        rung="fine",
        check="test_params_that_require_gradients",
        says="detach it",
    ),
    Wrong(
        "takes the caller's gradient away",
        edits=[(LEAF, LEAF + "    params.grad = None\n")],
        rung="fine",
        check="test_params_that_require_gradients",
        says="takes away",
    ),
    Wrong(
        "fills the gradients of all weights",
        edits=[(BACKWARD, "    value.backward()\n")],
        rung="fine",
        check="test_other_tensors_get_no_gradient",
        says="has got",
    ),
    Wrong(
        "a value with its graph",
        edits=[(RETURN, "    return value, leaf.grad\n")],
        rung="fine",
        check="test_no_graph",
        says="the value",
    ),
    Wrong(
        "records nothing inside no_grad",
        edits=[(FORWARD, "    value = residuals(leaf).square().sum()\n")],
        rung="fine",
        check="test_inside_no_grad",
    ),
    Wrong(
        "switches gradients on for good",
        edits=[(FORWARD, "    torch.set_grad_enabled(True)\n    value = residuals(leaf).square().sum()\n")],
        rung="fine",
        check="test_inside_no_grad",
        says="is_grad_enabled",
    ),
    Wrong(
        "calls residuals a second time for the value",
        edits=[(RETURN, "    return residuals(params).square().sum().detach(), leaf.grad\n")],
        rung="fine",
        check="test_called_once",
    ),
    Wrong(
        "computes in float32",
        edits=[(LEAF, "    leaf = params.detach().float().clone().requires_grad_()\n")],
        rung="fine",
        check="test_dtype_is_kept",
    ),
    Works(
        "a copy that requires gradients, and backward",
        edits=instead("""
    p = params.clone().requires_grad_(True)
    loss = (residuals(p) ** 2).sum()
    loss.backward()
    return loss, p.grad
"""),
    ),
    Works(
        "torch.tensor of the old one, and item by item",
        edits=instead("""
    p = torch.tensor(params.tolist(), requires_grad=True)
    loss = torch.sum(torch.pow(residuals(p), 2))
    loss.backward()
    return loss.detach(), p.grad
"""),
    ),
    Works(
        "autograd.grad, with the graph kept",
        edits=instead("""
    p = params.detach().requires_grad_()
    loss = residuals(p).pow(2).sum()
    return loss, torch.autograd.grad(loss, p)[0]
"""),
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
    Right(
        "with torch.func",
        edits=instead("""
    def sum_of_squares(p):
        return (residuals(p) ** 2).sum()

    gradient, value = torch.func.grad_and_value(sum_of_squares)(params.detach())
    return value.detach(), gradient.detach()
"""),
    ),
]
