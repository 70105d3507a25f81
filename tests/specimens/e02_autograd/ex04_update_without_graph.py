"""Answers to update_without_graph that people write."""

from grader.authoring.specimen import Right, Works, Wrong

MOVING = "    moving = [p for p in params if p.grad is not None]\n"
NO_GRAD = "    with torch.no_grad():  # writes are counted, and not recorded\n"
LOOP = "        for p in moving:\n"
UPDATE = "            p -= lr * (p.grad + weight_decay * p)  # in place: the same object, the same memory\n"


def instead(body):
    """Another loop over params, which is a list by then."""
    return [(MOVING, "    params = list(params)\n" + MOVING), (NO_GRAD + LOOP + UPDATE, body)]


SPECIMENS = [
    Wrong(
        "in place while the graph is recorded",
        edits=[(NO_GRAD, "    if True:\n")],
        rung="job",
        check="test_values",
    ),
    Wrong(
        "rebinds the name, in no_grad",
        edits=[(UPDATE, "            p = p - lr * (p.grad + weight_decay * p)\n")],
        rung="job",
        check="test_values",
    ),
    Wrong(
        "uphill", edits=[("p -= lr", "p += lr")], rung="job", check="test_values", says="along the gradient"
    ),
    Wrong(
        "ignores weight_decay",
        edits=[("(p.grad + weight_decay * p)", "p.grad")],
        rung="job",
        check="test_values",
        says="weight_decay has no effect",
    ),
    Wrong(
        "fails on a parameter without a gradient",
        edits=[(MOVING, "    moving = [p for p in params if p.requires_grad]\n")],
        rung="job",
        check="test_without_gradient",
    ),
    Wrong(
        "decays a parameter without a gradient",
        edits=instead("""
    with torch.no_grad():
        for p in params:
            p -= lr * ((0 if p.grad is None else p.grad) + weight_decay * p)
"""),
        rung="job",
        check="test_without_gradient",
    ),
    Wrong(
        "counts all parameters",
        edits=[
            (MOVING, "    params = list(params)\n" + MOVING),
            ("return len(moving)", "return len(params)"),
        ],
        rung="job",
        check="test_without_gradient",
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
        rung="job",
        check="test_list_holds_the_same_objects",
        says="other tensors",
    ),
    Wrong(
        "writes through data",
        edits=instead("""
    for p in params:
        if p.grad is not None:
            p.data -= lr * (p.grad + weight_decay * p.data)
"""),
        rung="fine",
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
        rung="fine",
        check="test_same_memory",
        says="buffer",
    ),
    Wrong(
        "adds the decay to the gradient in place",
        edits=[("lr * (p.grad + weight_decay * p)", "lr * p.grad.add_(p, alpha=weight_decay)")],
        rung="fine",
        check="test_gradients_are_left_alone",
        says="`.grad` after",
    ),
    Wrong(
        "counts those that require gradients",
        edits=[("    return len(moving)\n", "    return sum(p.requires_grad for p in moving)\n")],
        rung="fine",
        check="test_frozen_and_zero",
    ),
    Wrong(
        "switches gradients off for good",
        edits=instead("""
    torch.set_grad_enabled(False)
    for p in params:
        if p.grad is not None:
            p -= lr * (p.grad + weight_decay * p)
"""),
        rung="fine",
        check="test_grad_mode",
        says="is_grad_enabled",
    ),
    Wrong(
        "another default for weight_decay",
        edits=[("weight_decay: float = 0.0", "weight_decay: float = 0.01")],
        rung="fine",
        check="test_dtypes",
    ),
    Works(
        "through .data, as older tutorials have it",
        edits=instead("""
    for p in params:
        if p.grad is not None:
            p.data = p.data - lr * (p.grad + weight_decay * p.data)
"""),
    ),
    Works(
        "as d2l.ai has it: it clears the gradient as well",
        edits=instead("""
    with torch.no_grad():
        for p in moving:
            p -= lr * (p.grad + weight_decay * p)
            p.grad.zero_()
"""),
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
]
