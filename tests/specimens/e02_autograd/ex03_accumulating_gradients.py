"""Answers to batch_gradients that people write."""

from grader.authoring.specimen import Right, Wrong

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
        "goes by what was trainable in the first call",
        edits=[
            (
                TRAINABLE,
                "    known = model.__dict__.setdefault('_known', [n for n, p in model.named_parameters() if p.requires_grad])\n"
                + TRAINABLE.replace("p.requires_grad", "name in known"),
            )
        ],
        check="test_each_batch_alone",
    ),
    Wrong(
        "clips gradients above 1e4",
        edits=[
            (
                APPEND,
                "        gradients = [g * (1e4 / g.norm().clamp(min=1e4)) for g in gradients]\n" + APPEND,
            )
        ],
        check="test_each_batch_alone",
    ),
    Wrong(
        "p * 0 for a parameter that is not used: zeros with a graph",
        edits=[
            (GRADIENTS, GRADIENTS.replace("materialize_grads", "allow_unused")),
            (
                APPEND,
                "        pairs = zip(trainable.items(), gradients)\n"
                "        found.append({name: p * 0 if g is None else g for (name, p), g in pairs})\n",
            ),
        ],
        check="test_frozen_and_unused_parameters",
        says="require gradients",
    ),
    Wrong(
        "takes the difference to what lay in .grad, which may be huge",
        edits=instead("""
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    old = {name: p.grad for name, p in trainable.items()}
    before = {name: torch.zeros_like(p) if p.grad is None else p.grad.clone() for name, p in trainable.items()}
    found = []
    for inputs, targets in batches:
        loss_fn(model(inputs), targets).backward(inputs=list(trainable.values()))
        now = {name: before[name] if p.grad is None else p.grad for name, p in trainable.items()}
        found.append({name: g - before[name] for name, g in now.items()})
        for name, p in trainable.items():
            p.grad = None if old[name] is None else old[name].copy_(before[name])
    return found
"""),
        check="test_old_gradients",
        says="with old gradients",
    ),
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
        check="test_each_batch_alone",
        says="of those before it are added up",
    ),
    Wrong(
        "clears the gradients before each batch",
        edits=instead("""
    found = []
    for inputs, targets in batches:
        model.zero_grad()
        loss_fn(model(inputs), targets).backward()
        found.append({
            n: torch.zeros_like(p) if p.grad is None else p.grad
            for n, p in model.named_parameters() if p.requires_grad
        })
    return found
"""),
        check="test_old_gradients",
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
        check="test_old_gradients",
        says="lost",
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
        check="test_each_batch_alone",
        says="a later one is written over it",
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
        check="test_tensors_outside_of_the_model",
        says="temperature",
    ),
    Wrong(
        "leaves zeros where there was no gradient",
        edits=instead("""
    parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
    old = {n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in parameters.items()}
    found = []
    for inputs, targets in batches:
        for p in parameters.values():
            p.grad = torch.zeros_like(p)
        loss_fn(model(inputs), targets).backward(inputs=list(parameters.values()))
        found.append({n: p.grad for n, p in parameters.items()})
    for n, p in parameters.items():
        p.grad = old[n]
    return found
"""),
        check="test_old_gradients",
        says="had no `.grad`",
    ),
    Wrong(
        "takes the difference to the gradient before: it goes on growing",
        edits=instead("""
    parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
    found = []
    for inputs, targets in batches:
        before = {n: 0 if p.grad is None else p.grad.clone() for n, p in parameters.items()}
        loss_fn(model(inputs), targets).backward(inputs=list(parameters.values()))
        found.append({n: p.grad - before[n] for n, p in parameters.items()})
    return found
"""),
        check="test_old_gradients",
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
        check="test_each_batch_alone",
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
        check="test_each_batch_alone",
        says="of all batches are added up",
    ),
    Wrong(
        "None for a parameter that is not used",
        edits=[("materialize_grads=True", "allow_unused=True")],
        check="test_frozen_and_unused_parameters",
        says="None",
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
        check="test_frozen_and_unused_parameters",
        says="names",
    ),
    Wrong(
        "stops at a parameter that is not used",
        edits=[(", materialize_grads=True)", ")")],
        check="test_frozen_and_unused_parameters",
    ),
    Wrong(
        "zeros for frozen parameters",
        edits=[
            (
                APPEND,
                """        gradients = dict(zip(trainable, gradients, strict=True))
        found.append({n: gradients.get(n, torch.zeros_like(p)) for n, p in model.named_parameters()})
""",
            )
        ],
        check="test_frozen_and_unused_parameters",
        says="names",
    ),
    Wrong(
        "makes frozen parameters trainable",
        edits=[
            (TRAINABLE, "    model.requires_grad_(True)\n    trainable = dict(model.named_parameters())\n")
        ],
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
        check="test_tied_parameters",
        says="names",
    ),
    Wrong(
        "reports the tensors that lie in `.grad`",
        edits=instead("""
    old = {p: p.grad for p in model.parameters()}
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    found = []
    for inputs, targets in batches:
        for p in trainable.values():
            p.grad = None
        loss_fn(model(inputs), targets).backward(inputs=list(trainable.values()))
        found.append({n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in trainable.items()})
    for p, gradient in old.items():
        if gradient is not None:
            p.grad = gradient
    return found
"""),
        check="test_gradients_do_not_change_later",
    ),
    Wrong(
        "gradients that can be derived again",
        edits=[("materialize_grads=True", "materialize_grads=True, create_graph=True")],
        check="test_nothing_is_trained",
        says="requires_grad",
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
        check="test_nothing_is_trained",
        says="changes",
    ),
    Wrong(
        "switches to training mode",
        edits=[(TRAINABLE, TRAINABLE + "    model.train()\n")],
        check="test_nothing_is_trained",
        says="training flag",
    ),
    Wrong(
        "switches to training mode while it measures",
        edits=[
            (
                LOSS,
                "        modes = {m: m.training for m in model.modules()}\n        model.train()\n" + LOSS,
            ),
            (APPEND, APPEND + "        for m, mode in modes.items():\n            m.training = mode\n"),
        ],
        check="test_model_runs_once_for_each_batch",
        says="mode",
    ),
    Wrong(
        "reads the batches twice",
        edits=[(TRAINABLE, TRAINABLE + "    count = sum(1 for _ in batches)\n")],
        check="test_model_runs_once_for_each_batch",
    ),
    Wrong(
        "runs the model again for each parameter",
        edits=[
            (
                GRADIENTS,
                "        gradients = [\n"
                "            torch.autograd.grad(loss_fn(model(inputs), targets), p, materialize_grads=True)[0]\n"
                "            for p in trainable.values()\n        ]\n",
            )
        ],
        check="test_model_runs_once_for_each_batch",
        says="sizes",
    ),
    Wrong(
        "fails without batches",
        edits=[("    return found\n", "    return [found[0], *found[1:]]\n")],
        check="test_model_runs_once_for_each_batch",
    ),
    Wrong(
        "gradients in float32",
        edits=[(APPEND, "        found.append({n: g.float() for n, g in zip(trainable, gradients)})\n")],
        check="test_each_batch_alone",
        says="float64",
    ),
    Wrong(
        "the unit vector along the gradient",
        edits=[
            (
                APPEND,
                "        found.append({n: g / g.norm().clamp(min=1e-12) for n, g in zip(trainable, gradients)})\n",
            )
        ],
        check="test_float32",
    ),
    Wrong(
        "gradients on the CPU",
        edits=[(APPEND, "        found.append({n: g.cpu() for n, g in zip(trainable, gradients)})\n")],
        check="test_on_another_device",
        says="devices",
    ),
    Wrong(
        "zeros on the CPU",
        edits=[
            ("materialize_grads=True", "allow_unused=True"),
            (
                APPEND,
                "        found.append({\n            n: torch.zeros(p.shape, dtype=p.dtype) if g is None else g\n"
                "            for (n, p), g in zip(trainable.items(), gradients)\n        })\n",
            ),
        ],
        check="test_on_another_device",
        says="devices",
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
    Wrong(
        "one long vector of all parameters, which has a single dtype",
        edits=instead("""
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}

    def parts(flat):
        sizes = [p.numel() for p in trainable.values()]
        pairs = zip(trainable.items(), flat.split(sizes), strict=True)
        return {name: part.view(p.shape) for (name, p), part in pairs}

    found = []
    for inputs, targets in batches:
        flat = torch.cat([p.detach().flatten() for p in trainable.values()]).requires_grad_()
        loss = loss_fn(torch.func.functional_call(model, parts(flat), (inputs,)), targets)
        found.append(parts(*torch.autograd.grad(loss, flat)))
    return found
"""),
        check="test_float32",
    ),
    Wrong(
        "one tensor of zeros for all batches",
        code="""
import torch
def batch_gradients(model, loss_fn, batches):
    found = []
    zeros = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
    for inputs, targets in batches:
        params = {n: p for n, p in model.named_parameters() if p.requires_grad}
        loss = loss_fn(model(inputs), targets)
        grads = torch.autograd.grad(loss, list(params.values()), allow_unused=True)
        found.append({n: zeros[n] if g is None else g.detach() for (n, p), g in zip(params.items(), grads)})
    return found
""",
        check="test_frozen_and_unused_parameters",
        says="changed in place",
    ),
    Wrong(
        "thaws what is frozen, and leaves it so where the loss raises",
        edits=[
            (
                LOSS,
                "        frozen = [p for p in model.parameters() if not p.requires_grad]\n"
                "        for p in frozen:\n            p.requires_grad_(True)\n"
                + LOSS
                + "        for p in frozen:\n            p.requires_grad_(False)\n",
            )
        ],
        check="test_old_gradients",
        says="frozen parameters after an error",
    ),
    Wrong(
        "puts copies of the old gradients back: who holds the old ones holds others",
        edits=putting_back("None if p.grad is None else p.grad.clone()"),
        check="test_old_gradients",
        says="another tensor",
    ),
    Right(
        "puts the old gradients back, the same tensors",
        edits=putting_back("p.grad"),
    ),
    Wrong(
        "puts the old gradients back, but not where the backward raises",
        edits=instead(
            TRAINABLE
            + """    found = []
    for inputs, targets in batches:
        loss = loss_fn(model(inputs), targets)
        old = {p: p.grad for p in trainable.values()}
        for p in old:
            p.grad = None
        loss.backward(inputs=list(old))
        found.append({n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in trainable.items()})
        for p, gradient in old.items():
            p.grad = gradient
    return found
"""
        ),
        check="test_old_gradients",
        says="in the backward",
    ),
]
