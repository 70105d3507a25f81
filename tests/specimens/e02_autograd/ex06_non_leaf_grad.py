"""Answers to non_leaf_grad that people write."""

from grader.authoring.specimen import Right, Works, Wrong

START = "    start = inputs if inputs.requires_grad else inputs.detach().requires_grad_()  # the caller's flag stays\n"
FIRST = "    h = start.view_as(start)  # no leaf, so that its .grad is that of this call\n"
LOOP = """    activations = [h]
    for layer in layers:
        h = layer(h)
        activations.append(h)
"""
RETAIN = """    for h in activations:
        h.retain_grad()  # before the backward; what is no leaf would keep none
"""
BACKWARD = "    loss_fn(activations[-1]).backward()\n"
RETURN = "    return [h.grad for h in activations]\n"
BODY = START + FIRST + LOOP + RETAIN + BACKWARD + RETURN


TORCH = ("from jaxtyping import Float\n", "import torch\nfrom jaxtyping import Float\n")


def instead(body):
    return [(BODY, body), TORCH]


def putting_back(guarded="", unguarded=""):
    """Puts requires_grad of inputs back after an error in a layer or in `guarded`, not in `unguarded`."""
    return instead(f"""
    plain = not inputs.requires_grad
    h = inputs.requires_grad_() if plain else inputs.view_as(inputs)
    activations = [h]
    try:
        for layer in layers:
            activations.append(layer(activations[-1]))
{guarded}    except BaseException:
        inputs.requires_grad_(not plain)
        raise
{unguarded}    gradients = [h.grad.clone() for h in activations]
    if plain:
        inputs.requires_grad_(False)
        inputs.grad = None
    return gradients
""")


SPECIMENS = [
    Wrong(
        "asks after the backward",
        edits=[(RETAIN + BACKWARD, BACKWARD + RETAIN)],
        rung="job",
        check="test_each_activation",
    ),
    Wrong(
        "makes a leaf of each activation: each gradient stops there",
        edits=[("        h = layer(h)\n", "        h = layer(h).detach().requires_grad_()\n")],
        rung="job",
        check="test_each_activation",
    ),
    Wrong(
        "retains the gradients, and makes the inputs require some",
        edits=[(START, "    start = inputs.requires_grad_()\n")],
        rung="job",
        check="test_inputs_are_left_alone",
        says="requires_grad",
    ),
    Wrong(
        "lets the inputs require gradients for a while",
        edits=[
            (START, "    required = inputs.requires_grad\n    start = inputs.requires_grad_()\n"),
            (RETURN, "    if inputs.is_leaf:\n        inputs.requires_grad_(required)\n" + RETURN),
        ],
        rung="job",
        check="test_inputs_are_left_alone",
        says="has a `.grad`",
    ),
    Wrong(
        "forgets the inputs",
        edits=[
            ("    activations = [h]\n", "    activations = []\n"),
            (BACKWARD, "    loss_fn(h).backward()\n"),
        ],
        rung="job",
        check="test_each_activation",
        says="number of gradients",
    ),
    Wrong(
        "last layer first",
        edits=[(RETURN, "    return [h.grad for h in activations][::-1]\n")],
        rung="job",
        check="test_worked_example",
        says="the last layer comes first",
    ),
    Wrong(
        "the activations themselves",
        edits=[(RETURN, "    return [h.detach() for h in activations]\n")],
        rung="job",
        check="test_each_activation",
    ),
    Wrong(
        "with autograd.grad: the parameters get nothing",
        edits=[
            (RETAIN, ""),
            (BACKWARD, ""),
            (RETURN, "    return list(torch.autograd.grad(loss_fn(h), activations))\n"),
            TORCH,
        ],
        rung="job",
        check="test_parameters_get_gradients",
        says="has no `.grad`",
    ),
    Wrong(
        "hooks on modules: plain functions have none",
        edits=instead("""
    found, handles = [], []
    start = inputs if inputs.requires_grad else inputs.detach().requires_grad_()
    h = start.view_as(start)
    h.register_hook(lambda g: found.insert(0, g.clone()))
    for layer in layers:
        handles.append(layer.register_full_backward_hook(lambda m, i, o: found.insert(0, o[0].clone())))
    for layer in layers:
        h = layer(h)
    loss_fn(h).backward()
    for handle in handles:
        handle.remove()
    return found
"""),
        rung="job",
        check="test_each_activation",
    ),
    Wrong(
        "always starts anew: nothing flows on",
        edits=[(START, "    start = inputs.detach().requires_grad_()\n")],
        rung="fine",
        check="test_inputs_that_were_computed",
        says="flows on",
    ),
    Wrong(
        "the leaf's own gradient: with all that lies there",
        edits=[(FIRST, "    h = start\n")],
        rung="fine",
        check="test_inputs_that_are_a_leaf",
        says="inputs has a `.grad`",
    ),
    Wrong(
        "clears the parameters' gradients first",
        edits=[
            (
                BACKWARD,
                """    for layer in layers:
        if isinstance(layer, torch.nn.Module):
            layer.zero_grad()
"""
                + BACKWARD,
            ),
            TORCH,
        ],
        rung="fine",
        check="test_parameters_accumulate",
    ),
    Wrong(
        "thaws frozen layers",
        edits=[
            (
                LOOP,
                """    for layer in layers:
        if isinstance(layer, torch.nn.Module):
            layer.requires_grad_(True)
"""
                + LOOP,
            ),
            TORCH,
        ],
        rung="fine",
        check="test_frozen_layers",
        says="requires_grad",
    ),
    Wrong(
        "remembers activations by what they are: an idle layer is lost",
        edits=[(RETURN, "    return [h.grad for h in dict.fromkeys(activations)]\n")],
        rung="fine",
        check="test_idle_and_repeated_layers",
        says="number of gradients",
    ),
    Wrong(
        "gradients that can be derived again",
        edits=[(BACKWARD, "    loss_fn(activations[-1]).backward(create_graph=True)\n")],
        rung="fine",
        check="test_no_graph",
    ),
    Wrong(
        "with autograd.grad, and a backward besides",
        edits=[
            (RETAIN, ""),
            (
                BACKWARD,
                "    loss = loss_fn(h)\n    found = list(torch.autograd.grad(loss, activations, retain_graph=True))\n    loss.backward()\n",
            ),
            (RETURN, "    return found\n"),
            TORCH,
        ],
        rung="fine",
        check="test_runs_once",
        says="walks",
    ),
    Wrong(
        "gradients in the dtype of the inputs",
        edits=[(RETURN, "    return [h.grad.to(inputs.dtype) for h in activations]\n")],
        rung="fine",
        check="test_shapes_and_dtypes_change",
        says="dtype",
    ),
    Works(
        "retain_grad along the way, from a copy of the inputs",
        edits=instead("""
    h = inputs.clone().detach().requires_grad_(True)
    activations = [h]
    for layer in layers:
        h = layer(h)
        h.retain_grad()
        activations.append(h)
    loss = loss_fn(h)
    loss.backward()
    return [a.grad for a in activations]
"""),
    ),
    Works(
        "hooks that remember",
        edits=instead("""
    grads = {}
    h = inputs.detach().requires_grad_()
    h.register_hook(lambda g: grads.__setitem__(0, g))
    for i, layer in enumerate(layers):
        h = layer(h)
        h.register_hook(lambda g, i=i: grads.__setitem__(i + 1, g))
    loss_fn(h).backward()
    return [grads[i] for i in range(len(layers) + 1)]
"""),
    ),
    Right(
        "hooks that copy, on tensors of its own",
        edits=instead("""
    found = {}

    def watch(place, h):
        h.register_hook(lambda g: found.update({place: g.detach().clone()}))
        return h

    x = inputs if inputs.requires_grad else inputs.detach().clone().requires_grad_()
    h = watch(0, x * 1)
    for place, layer in enumerate(layers, start=1):
        h = watch(place, layer(h))
    torch.autograd.backward(loss_fn(h))
    return [found[place] for place in range(len(layers) + 1)]
"""),
    ),
    Right(
        "cuts at the inputs, and sends the gradient on by hand",
        edits=instead("""
    h = inputs.clone().detach().requires_grad_()
    outputs = [h]
    for layer in layers:
        outputs.append(layer(outputs[-1]))
        outputs[-1].retain_grad()
    loss_fn(outputs[-1]).backward()
    gradients = [h.grad.clone() for h in outputs]
    if inputs.requires_grad:
        inputs.backward(gradients[0].clone())
    return gradients
"""),
    ),
]
