"""Answers to batch_gradients that people write."""

from grader.authoring.specimen import Right, Works, Wrong

TRAINABLE = "    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}\n"
LOSS = "        loss = loss_fn(model(inputs), targets)  # ()\n"
COMMENT = "        # returned rather than added to .grad; zeros in place of None\n"
GRADIENTS = (
    "        gradients = torch.autograd.grad(loss, list(trainable.values()), materialize_grads=True)\n"
)
APPEND = "        found.append(dict(zip(trainable, gradients, strict=True)))\n"
BODY = (
    TRAINABLE
    + "    found = []\n    for inputs, targets in batches:\n"
    + LOSS
    + COMMENT
    + GRADIENTS
    + APPEND
    + "    return found\n"
)


def instead(body):
    return [(BODY, body)]


def putting_back(old):
    """Runs backward, and puts back at the end what `old` makes of each parameter p at the beginning."""
    return instead(
        TRAINABLE
        + f"    old = {{p: {old} for p in model.parameters()}}"
        + """
    found = []
    try:
        for inputs, targets in batches:
            model.zero_grad()
            loss = loss_fn(model(inputs), targets)
            loss.backward(inputs=list(trainable.values()))
            found.append({n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in trainable.items()})
    finally:
        for p, gradient in old.items():
            p.grad = gradient
    return found
"""
    )


SPECIMENS = [
    Wrong(
        "clears the gradients once, before the first batch",
        edits=instead("""
    model.zero_grad()
    found = []
    for inputs, targets in batches:
        loss_fn(model(inputs), targets).backward()
        found.append({n: p.grad.clone() for n, p in model.named_parameters() if p.requires_grad})
    model.zero_grad()
    return found
"""),
        rung="job",
        check="test_each_batch_alone",
        says="of those before it are added up",
    ),
    Wrong(
        "one gradient for all batches together",
        edits=[
            (
                LOSS,
                LOSS
                + """        batches = list(batches)
        loss = sum(loss_fn(model(x), y) for x, y in batches)
""",
            )
        ],
        rung="job",
        check="test_each_batch_alone",
        says="of all batches are added up",
    ),
    Wrong(
        "writes zeros into gradients that it has reported",
        edits=instead("""
    old = {n: None if p.grad is None else p.grad.clone() for n, p in model.named_parameters()}
    parameters = [p for p in model.parameters() if p.requires_grad]
    found = []
    for inputs, targets in batches:
        for p in parameters:
            p.grad = torch.zeros_like(p) if p.grad is None else p.grad.zero_()
        loss_fn(model(inputs), targets).backward(inputs=parameters)
        found.append({n: p.grad for n, p in model.named_parameters() if p.requires_grad})
    for n, p in model.named_parameters():
        p.grad = old[n]
    return found
"""),
        rung="job",
        check="test_each_batch_alone",
        says="a later one is written over it",
    ),
    Wrong(
        "the mean over the batches so far",
        edits=[
            (
                APPEND,
                APPEND
                + "        found[-1] = {n: sum(f[n] for f in found) / len(found) for n in trainable}\n",
            )
        ],
        rung="job",
        check="test_each_batch_alone",
    ),
    Wrong(
        "the unit vector along the gradient",
        edits=[
            (
                APPEND,
                "        found.append({n: g / g.norm().clamp(min=1e-12) for n, g in zip(trainable, gradients)})\n",
            )
        ],
        rung="job",
        check="test_each_batch_alone",
    ),
    Wrong(
        "trains a little with each batch",
        edits=[
            (
                APPEND,
                APPEND
                + """        with torch.no_grad():
            for p, g in zip(trainable.values(), gradients):
                p -= 1e-3 * g
""",
            )
        ],
        rung="job",
        check="test_each_batch_alone",
    ),
    Wrong(
        "clears the gradients before each batch and at the end",
        edits=instead("""
    found = []
    for inputs, targets in batches:
        model.zero_grad()
        loss_fn(model(inputs), targets).backward()
        found.append({
            n: torch.zeros_like(p) if p.grad is None else p.grad
            for n, p in model.named_parameters() if p.requires_grad
        })
    model.zero_grad()
    return found
"""),
        rung="fine",
        check="test_grad_is_put_back",
        says="lost",
    ),
    Wrong(
        "puts copies of the old gradients back: who holds the old ones holds others",
        edits=putting_back("None if p.grad is None else p.grad.clone()"),
        rung="fine",
        check="test_grad_is_put_back",
        says="another tensor",
    ),
    Wrong(
        "restores the gradients of the model, and forgets all others",
        edits=instead("""
    old = {n: p.grad for n, p in model.named_parameters()}
    found = []
    for inputs, targets in batches:
        model.zero_grad(set_to_none=True)
        loss_fn(model(inputs), targets).backward()
        found.append({
            n: torch.zeros_like(p) if p.grad is None else p.grad
            for n, p in model.named_parameters() if p.requires_grad
        })
    for n, p in model.named_parameters():
        p.grad = old[n]
    return found
"""),
        rung="fine",
        check="test_tensors_outside_of_the_model",
        says="temperature",
    ),
    Wrong(
        "leaves out a parameter that is not used",
        edits=[
            ("materialize_grads=True", "allow_unused=True"),
            (
                APPEND,
                "        found.append({n: g for n, g in zip(trainable, gradients, strict=True) if g is not None})\n",
            ),
        ],
        rung="fine",
        check="test_frozen_and_unused_parameters",
        says="names",
    ),
    Wrong(
        "stops at a parameter that is not used",
        edits=[(", materialize_grads=True)", ")")],
        rung="fine",
        check="test_frozen_and_unused_parameters",
    ),
    Wrong(
        "counts a tied parameter twice",
        edits=[
            (
                TRAINABLE,
                "    trainable = {n: p for n, p in model.named_parameters(remove_duplicate=False) if p.requires_grad}\n",
            )
        ],
        rung="fine",
        check="test_tied_parameters",
        says="names",
    ),
    Wrong(
        "gradients that can be derived again",
        edits=[("materialize_grads=True", "materialize_grads=True, create_graph=True")],
        rung="fine",
        check="test_nothing_is_trained",
        says="requires_grad",
    ),
    Wrong(
        "switches to training mode",
        edits=[(TRAINABLE, TRAINABLE + "    model.train()\n")],
        rung="fine",
        check="test_nothing_is_trained",
        says="training flag",
    ),
    Wrong(
        "reads the batches twice",
        edits=[(TRAINABLE, TRAINABLE + "    count = sum(1 for _ in batches)\n")],
        rung="fine",
        check="test_model_runs_once_for_each_batch",
    ),
    Wrong(
        "gradients on the CPU",
        edits=[(APPEND, "        found.append({n: g.cpu() for n, g in zip(trainable, gradients)})\n")],
        rung="fine",
        check="test_on_another_device",
        says="devices",
    ),
    Wrong(
        "reports the tensors that lie in `.grad`, cleared in place",
        edits=instead("""
    found = []
    for inputs, targets in batches:
        model.zero_grad(set_to_none=False)
        loss_fn(model(inputs), targets).backward()
        found.append({name: p.grad for name, p in model.named_parameters()})
    return found
"""),
        rung="job",
        check="test_worked_example",
        says="the last batch's",
    ),
    Works(
        "zero_grad before each batch, and the gradients themselves",
        edits=instead("""
    found = []
    for inputs, targets in batches:
        model.zero_grad()
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        found.append({name: p.grad.clone() for name, p in model.named_parameters()})
    model.zero_grad()
    return found
"""),
    ),
    Works(
        "autograd.grad for all parameters",
        edits=instead("""
    found = []
    for inputs, targets in batches:
        loss = loss_fn(model(inputs), targets)
        gradients = torch.autograd.grad(loss, model.parameters())
        found.append(dict(zip([name for name, _ in model.named_parameters()], gradients)))
    return found
"""),
    ),
    Right(
        "puts the old gradients aside, and names who gets new ones",
        edits=instead("""
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    aside = [p.grad for p in trainable.values()]
    result = []
    try:
        for inputs, targets in batches:
            for p in trainable.values():
                p.grad = None
            loss_fn(model(inputs), targets).backward(inputs=list(trainable.values()))
            result.append({
                name: torch.zeros_like(p) if p.grad is None else p.grad.detach().clone()
                for name, p in trainable.items()
            })
    finally:
        for p, gradient in zip(trainable.values(), aside):
            p.grad = gradient
    return result
"""),
    ),
    Right(
        "with torch.func",
        edits=instead("""
    trainable = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}

    def loss(parameters, inputs, targets):
        return loss_fn(torch.func.functional_call(model, parameters, (inputs,)), targets)

    return [
        {name: g.detach() for name, g in torch.func.grad(loss)(trainable, x, y).items()} for x, y in batches
    ]
"""),
    ),
    Right(
        "puts the old gradients back, the same tensors",
        edits=putting_back("p.grad"),
    ),
]
