"""Answers to update_without_graph that people write."""

from grader.authoring.specimen import Right, Wrong

MOVING = "    moving = [p for p in params if p.grad is not None]\n"
NO_GRAD = "    with torch.no_grad():  # writes are counted, and not recorded\n"
LOOP = "        for p in moving:\n"
UPDATE = "            p -= lr * (p.grad + weight_decay * p)  # in place: the same object, the same memory\n"


def instead(body):
    """Another loop over params, which is a list by then."""
    return [(MOVING, "    params = list(params)\n" + MOVING), (NO_GRAD + LOOP + UPDATE, body)]


SPECIMENS = [
    Wrong(
        "adds no decay of 1, as if it were none",
        edits=[
            (UPDATE, UPDATE.replace("weight_decay * p", "(weight_decay if weight_decay != 1 else 0) * p"))
        ],
        check="test_values",
    ),
    Wrong(
        "leaves out gradients that are not finite",
        edits=[(MOVING, MOVING.replace("is not None]", "is not None and p.grad.isfinite().all()]"))],
        check="test_gradient_of_zero",
        says="[nan, 1000000000.0",
    ),
    Wrong(
        "clips the gradient",
        edits=[(UPDATE, UPDATE.replace("(p.grad +", "(p.grad.clamp(-1e4, 1e4) +"))],
        check="test_gradient_of_zero",
        says="[3.0, 1000000000.0",
    ),
    Wrong(
        "counts those that require gradients",
        edits=[("    return len(moving)\n", "    return sum(p.requires_grad for p in moving)\n")],
        check="test_still_a_leaf",
        says="frozen since",
    ),
    Wrong(
        "parameters without numbers do not count",
        edits=[(MOVING, MOVING.replace("is not None]", "is not None and p.numel()]"))],
        check="test_count",
    ),
    Wrong(
        "moves a parameter without a gradient by 0, which autograd counts as a write",
        edits=[
            (
                "    moving = [p for p in params if p.grad is not None]\n",
                "    held = list(params)\n    moving = [p for p in held if p.grad is not None]\n",
            ),
            (
                "        for p in moving:\n",
                "        for p in held:\n            p -= 0\n        for p in moving:\n",
            ),
        ],
        check="test_gradients_are_left_alone",
        says="a parameter without a gradient",
    ),
    Wrong(
        "rebinds the name, in no_grad",
        edits=[(UPDATE, "            p = p - lr * (p.grad + weight_decay * p)\n")],
        check="test_values",
    ),
    Wrong(
        "puts new leaves into the list",
        edits=[
            (
                NO_GRAD + LOOP + UPDATE,
                """    for i, p in enumerate(moving):
        new = (p - lr * (p.grad + weight_decay * p)).detach().requires_grad_()
        new.grad = p.grad
        if isinstance(params, list):
            params[i] = new
""",
            )
        ],
        check="test_list_holds_the_same_objects",
        says="other tensors",
    ),
    Wrong(
        "in place while the graph is recorded",
        edits=[(NO_GRAD, "    if True:\n")],
        check="test_values",
    ),
    Wrong(
        "writes through data",
        edits=instead("""
    for p in params:
        if p.grad is not None:
            p.data -= lr * (p.grad + weight_decay * p.data)
"""),
        check="test_writes_are_counted",
        says="hidden from autograd",
    ),
    Wrong(
        "new memory through data",
        edits=instead("""
    for p in params:
        if p.grad is not None:
            p.data = p.data - lr * (p.grad + weight_decay * p.data)
"""),
        check="test_same_memory",
        says="buffer",
    ),
    Wrong(
        "writes through NumPy",
        edits=instead("""
    for p in params:
        if p.grad is not None:
            values = p.detach().numpy()
            values -= lr * (p.grad.detach().numpy() + weight_decay * values)
"""),
        check="test_writes_are_counted",
    ),
    Wrong(
        "swaps in memory with set_",
        edits=[(UPDATE, "            p.set_((p - lr * (p.grad + weight_decay * p)).detach())\n")],
        check="test_same_memory",
    ),
    Wrong(
        "the graph is switched off at the parameter, and on again for all",
        edits=instead("""
    for p in params:
        p.requires_grad_(False)
        if p.grad is not None:
            p -= lr * (p.grad.detach() + weight_decay * p)
        p.requires_grad_(True)
"""),
        check="test_still_a_leaf",
        says="frozen",
    ),
    Wrong(
        "switches off the parameter, not the gradient",
        edits=instead("""
    for p in params:
        if p.grad is not None:
            required = p.requires_grad
            p.requires_grad_(False)
            p -= lr * (p.grad + weight_decay * p)
            if p.is_leaf:
                p.requires_grad_(required)
"""),
        check="test_still_a_leaf",
    ),
    Wrong(
        "fails on a parameter without a gradient",
        edits=[(MOVING, "    moving = [p for p in params if p.requires_grad]\n")],
        check="test_gradients_are_left_alone",
    ),
    Wrong(
        "decays a parameter without a gradient",
        edits=instead("""
    with torch.no_grad():
        for p in params:
            p -= lr * ((0 if p.grad is None else p.grad) + weight_decay * p)
"""),
        check="test_gradients_are_left_alone",
        says="without a gradient",
    ),
    Wrong(
        "takes a gradient of zero for none",
        edits=[("p.grad is not None]", "p.grad is not None and p.grad.any()]")],
        check="test_gradient_of_zero",
    ),
    Wrong(
        "adds the decay to the gradient in place",
        edits=[("lr * (p.grad + weight_decay * p)", "lr * p.grad.add_(p, alpha=weight_decay)")],
        check="test_gradients_are_left_alone",
        says="`.grad` after",
    ),
    Wrong(
        "clears the gradients after the step",
        edits=[(UPDATE, UPDATE + "            p.grad = None\n")],
        check="test_gradients_are_left_alone",
        says="gone",
    ),
    Wrong(
        "writes zeros to the gradients after the step",
        edits=[(UPDATE, UPDATE + "            p.grad.zero_()\n")],
        check="test_gradients_are_left_alone",
        says="`.grad` after",
    ),
    Wrong(
        "gives zeros to who has no gradient",
        edits=[
            (
                MOVING,
                """    params = list(params)
    for p in params:
        p.grad = torch.zeros_like(p) if p.grad is None else p.grad
"""
                + MOVING,
            )
        ],
        check="test_gradients_are_left_alone",
        says="has one",
    ),
    Wrong("uphill", edits=[("p -= lr", "p += lr")], check="test_values", says="p moves along the gradient"),
    Wrong(
        "ignores weight_decay",
        edits=[("(p.grad + weight_decay * p)", "p.grad")],
        check="test_values",
        says="weight_decay has no effect",
    ),
    Wrong(
        "decays apart from the learning rate",
        edits=[("lr * (p.grad + weight_decay * p)", "lr * p.grad + weight_decay * p")],
        check="test_values",
        says="weight_decay is not multiplied by lr",
    ),
    Wrong(
        "decays after the step",
        edits=[
            (
                UPDATE,
                "            p -= lr * p.grad\n            p -= lr * weight_decay * p\n",
            )
        ],
        check="test_values",
        says="weight_decay comes after the step",
    ),
    Wrong(
        "the sign of the decay",
        edits=[("(p.grad + weight_decay * p)", "(p.grad - weight_decay * p)")],
        check="test_values",
        says="weight_decay moves p away from 0",
    ),
    Wrong(
        "another default for weight_decay",
        edits=[("weight_decay: float = 0.0", "weight_decay: float = 0.01")],
        check="test_default_weight_decay",
    ),
    Wrong(
        "clips the gradient",
        edits=[("(p.grad + weight_decay * p)", "(p.grad.clamp(-1, 1) + weight_decay * p)")],
        check="test_values",
    ),
    Wrong(
        "keeps a velocity",
        edits=[
            ("\n\ndef sgd_step(", "\n\nvelocity = {}\n\n\ndef sgd_step("),
            (
                UPDATE,
                """            v = velocity.get(id(p), 0) * 0.9 + p.grad + weight_decay * p
            velocity[id(p)] = v
            p -= lr * v
""",
            ),
        ],
        check="test_several_steps_with_backward",
    ),
    Wrong(
        "switches gradients off for good",
        edits=instead("""
    torch.set_grad_enabled(False)
    for p in params:
        if p.grad is not None:
            p -= lr * (p.grad + weight_decay * p)
"""),
        check="test_grad_mode",
        says="is_grad_enabled",
    ),
    Wrong(
        "switches gradients on at the end",
        edits=instead("""
    torch.set_grad_enabled(False)
    for p in params:
        if p.grad is not None:
            p -= lr * (p.grad + weight_decay * p)
    torch.set_grad_enabled(True)
"""),
        check="test_grad_mode",
        says="is_grad_enabled",
    ),
    Wrong(
        "a leaf no more inside no_grad",
        edits=instead("""
    for p in params:
        if p.grad is not None:
            if torch.is_grad_enabled():
                with torch.no_grad():
                    p -= lr * (p.grad + weight_decay * p)
            else:
                p.data.copy_(p - lr * (p.grad + weight_decay * p))
"""),
        check="test_writes_are_counted",
        says="inside",
    ),
    Wrong(
        "counts the parameters first",
        edits=[(MOVING, "    if not list(params):\n        return 0\n" + MOVING)],
        check="test_any_iterable",
    ),
    Wrong("needs a list", edits=[("in params if", "in params[:] if")], check="test_any_iterable"),
    Wrong(
        "counts all parameters",
        edits=[
            (MOVING, "    params = list(params)\n" + MOVING),
            ("return len(moving)", "return len(params)"),
        ],
        check="test_count",
    ),
    Wrong(
        "counts numbers, not parameters",
        edits=[("return len(moving)", "return sum(p.numel() for p in moving)")],
        check="test_count",
    ),
    Wrong(
        "moves a flat view of the parameter",
        edits=[
            (
                UPDATE,
                """            flat = p.reshape(-1)
            flat -= lr * (p.grad.reshape(-1) + weight_decay * flat)
""",
            )
        ],
        check="test_same_memory",
    ),
    Wrong(
        "the next backward meets a hook",
        edits=[(UPDATE, UPDATE + "            p.register_hook(lambda g, lr=lr: g * (1 - lr))\n")],
        check="test_next_backward_ends_here",
    ),
    Wrong(
        "leaves out what has been frozen since",
        edits=[("if p.grad is not None]", "if p.requires_grad and p.grad is not None]")],
        check="test_still_a_leaf",
    ),
    Right(
        "with sub_ on a detached view",
        edits=instead("""
    for p in params:
        if p.grad is None:
            continue
        direction = p.grad.detach().add(p.detach(), alpha=weight_decay)
        p.detach().sub_(direction, alpha=lr)
"""),
    ),
    Right(
        "with torch's own optimizer",
        edits=instead("""
    if params:
        torch.optim.SGD(params, lr=lr, weight_decay=weight_decay).step()
"""),
    ),
    Right(
        "a decorated helper, with copy_",
        edits=instead("""
    @torch.no_grad()
    def step(p):
        p.copy_(p * (1 - lr * weight_decay) - lr * p.grad)

    for p in filter(lambda p: p.grad is not None, params):
        step(p)
"""),
    ),
    Right(
        "with add_ in no_grad",
        edits=instead("""
    with torch.set_grad_enabled(False):
        moving = [p for p in params if isinstance(p.grad, Tensor)]
        for p in moving:
            p.add_(p.grad + weight_decay * p, alpha=-lr)
"""),
    ),
    Wrong(
        "one long vector of all steps, which is on a single device",
        edits=instead("""
    if not moving:
        return 0
    with torch.no_grad():
        steps = lr * torch.cat([(p.grad + weight_decay * p).flatten() for p in moving])
        for p, step in zip(moving, steps.split([p.numel() for p in moving]), strict=True):
            p -= step.view(p.shape)
"""),
        check="test_default_weight_decay",
    ),
    Wrong(
        "writes to a frozen parameter through .data",
        edits=[(UPDATE, UPDATE.replace("p -= ", "q = p if p.requires_grad else p.data\n            q -= "))],
        check="test_writes_are_counted",
        says="frozen",
    ),
]
