"""Answers to non_leaf_grad that people write."""

from grader.authoring.specimen import Right, Wrong

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
        "keeps the graph, as an error message advises",
        edits=[(BACKWARD, BACKWARD.replace("backward()", "backward(retain_graph=True)"))],
        check="test_inputs_that_were_computed",
        says="frees the graph",
    ),
    Wrong(
        "makes a graph of the gradients, and detaches those of the list only",
        edits=[
            (BACKWARD, BACKWARD.replace("backward()", "backward(create_graph=True)")),
            (RETURN, "    return [h.grad.detach().clone() for h in activations]\n"),
        ],
        check="test_no_graph",
        says="of the parameters",
    ),
    Wrong(
        "zeros for NaN, to be safe",
        edits=[(RETURN, "    return [h.grad.where(~h.grad.isnan(), 0) for h in activations]\n")],
        check="test_each_activation",
        says="nan",
    ),
    Wrong(
        "puts modules into training mode, as backward comes with training",
        edits=[
            (
                LOOP,
                LOOP.replace(
                    "        h = layer(h)\n",
                    "        if hasattr(layer, 'train'):\n            layer.train()\n        h = layer(h)\n",
                ),
            )
        ],
        check="test_runs_once",
        says="evaluation mode",
    ),
    Wrong(
        "adds to the `.grad` of a leaf by hand",
        edits=instead(
            START.replace("if inputs.requires_grad else", "if inputs.grad_fn else")
            + FIRST
            + LOOP
            + RETAIN
            + BACKWARD
            + """    if inputs.requires_grad and inputs.is_leaf:
        added = activations[0].grad
        inputs.grad = added.clone() if inputs.grad is None else inputs.grad + added
"""
            + RETURN
        ),
        check="test_inputs_that_are_a_leaf",
        says="hook on inputs",
    ),
    Wrong(
        "adds the layers to a list",
        edits=[(LOOP, LOOP.replace("in layers:", "in [] + layers:"))],
        check="test_shapes_and_dtypes_change",
        says="TypeError",
    ),
    Wrong(
        "without layers the gradient is found, and added nowhere",
        edits=instead(
            START
            + FIRST
            + "    if not layers:\n        return [torch.autograd.grad(loss_fn(h), h)[0]]\n"
            + LOOP
            + RETAIN
            + BACKWARD
            + RETURN
        ),
        check="test_no_layers_and_idle_layers",
        says="without layers",
    ),
    Wrong(
        "gradients of half precision in float32",
        edits=[
            (
                RETURN,
                "    return [h.grad.float() if h.element_size() == 2 else h.grad for h in activations]\n",
            )
        ],
        check="test_shapes_and_dtypes_change",
        says="dtype",
    ),
    Wrong(
        "calls forward of a module, which passes hooks by",
        edits=[(LOOP, LOOP.replace("layer(h)", "getattr(layer, 'forward', layer)(h)"))],
        check="test_runs_once",
        says="hook on the layer",
    ),
    Wrong("asks for nothing", edits=[(RETAIN, "")], check="test_each_activation"),
    Wrong(
        "asks after the backward",
        edits=[(RETAIN + BACKWARD, BACKWARD + RETAIN)],
        check="test_each_activation",
    ),
    Wrong(
        "makes a leaf of each activation: each gradient stops there",
        edits=[("        h = layer(h)\n", "        h = layer(h).detach().requires_grad_()\n")],
        check="test_each_activation",
    ),
    Wrong(
        "retains the gradients, and makes the inputs require some",
        edits=[(START, "    start = inputs.requires_grad_()\n")],
        check="test_inputs_without_gradients",
        says="requires_grad",
    ),
    Wrong(
        "lets the inputs require gradients for a while",
        edits=[
            (START, "    required = inputs.requires_grad\n    start = inputs.requires_grad_()\n"),
            (RETURN, "    if inputs.is_leaf:\n        inputs.requires_grad_(required)\n" + RETURN),
        ],
        check="test_inputs_without_gradients",
        says="have a `.grad`",
    ),
    Wrong(
        "always starts anew: nothing flows on",
        edits=[(START, "    start = inputs.detach().requires_grad_()\n")],
        check="test_inputs_that_were_computed",
        says="computed from",
    ),
    Wrong(
        "starts from a clone that requires no gradients",
        edits=[
            (START, "    start = inputs.clone()\n"),
            ("h.retain_grad()", "h.retain_grad() if h.requires_grad else None"),
        ],
        check="test_frozen_layers",
    ),
    Wrong(
        "the leaf's own gradient: with all that lies there",
        edits=[(FIRST, "    h = start\n")],
        check="test_inputs_that_are_a_leaf",
        says="inputs has a `.grad`",
    ),
    Wrong(
        "the leaf's own gradient, cleared before",
        edits=[
            (FIRST, "    h = start\n    h.grad = None\n"),
            (RETURN, "    return [h.grad.clone() for h in activations]\n"),
        ],
        check="test_inputs_that_are_a_leaf",
        says="5e9 lay before",
    ),
    Wrong(
        "the inputs' own gradient, less what lay there: only for leaves",
        edits=[
            (FIRST, "    h = start\n    old = h.grad if h.is_leaf else None\n"),
            (BACKWARD, "    if old is not None:\n        start.grad = None\n" + BACKWARD),
            (
                RETURN,
                "    found = [h.grad for h in activations]\n"
                "    if old is not None:\n        start.grad = old + found[0]\n    return found\n",
            ),
        ],
        check="test_call_after_call",
    ),
    Wrong(
        "forgets the inputs",
        edits=[
            ("    activations = [h]\n", "    activations = []\n"),
            (BACKWARD, "    loss_fn(h).backward()\n"),
        ],
        check="test_each_activation",
        says="number of gradients",
    ),
    Wrong(
        "the loss has an entry too",
        edits=[
            (
                BACKWARD,
                "    loss = loss_fn(activations[-1])\n    loss.retain_grad()\n    activations.append(loss)\n    loss.backward()\n",
            )
        ],
        check="test_each_activation",
        says="number of gradients",
    ),
    Wrong(
        "last layer first",
        edits=[(RETURN, "    return [h.grad for h in activations][::-1]\n")],
        check="test_each_activation",
    ),
    Wrong(
        "the activations themselves",
        edits=[(RETURN, "    return [h.detach() for h in activations]\n")],
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
        check="test_parameters_accumulate",
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
        check="test_runs_once",
        says="walks",
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
        check="test_frozen_layers",
        says="requires_grad",
    ),
    Wrong(
        "hooks that stay on the caller's leaf",
        edits=[
            (FIRST, "    h = start\n"),
            (
                RETAIN,
                """    found = [None] * len(activations)
    for place, h in enumerate(activations):
        h.register_hook(lambda g, place=place: found.__setitem__(place, g.clone()))
""",
            ),
            (RETURN, "    return found\n"),
        ],
        check="test_lists_do_not_change_later",
    ),
    Wrong(
        "hooks that hand out the tensors which become `.grad`",
        edits=[
            (
                RETAIN,
                """    found = [None] * len(activations)
    for place, h in enumerate(activations):
        h.register_hook(lambda g, place=place: found.__setitem__(place, g))
""",
            ),
            (RETURN, "    return found\n"),
        ],
        check="test_lists_do_not_change_later",
    ),
    Wrong(
        "retains the gradient at the caller's inputs: it adds up there",
        edits=[(FIRST, "    h = start\n"), (RETURN, "    return [h.grad.clone() for h in activations]\n")],
        check="test_call_after_call",
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
        check="test_each_activation",
    ),
    Wrong(
        "remembers activations by what they are: an idle layer is lost",
        edits=[(RETURN, "    return [h.grad for h in dict.fromkeys(activations)]\n")],
        check="test_no_layers_and_idle_layers",
        says="number of gradients",
    ),
    Wrong(
        "fails without layers",
        edits=[(START, "    last = layers[-1]\n" + START)],
        check="test_no_layers_and_idle_layers",
    ),
    Wrong(
        "gradients that can be derived again",
        edits=[(BACKWARD, "    loss_fn(activations[-1]).backward(create_graph=True)\n")],
        check="test_no_graph",
    ),
    Wrong(
        "runs the layers again for each gradient",
        edits=[
            (
                RETURN,
                """    for layer in layers:
        h = layer(h.detach())
    return [h.grad for h in activations]
""",
            )
        ],
        check="test_runs_once",
        says="forward",
    ),
    Wrong(
        "gradients in the dtype of the inputs",
        edits=[(RETURN, "    return [h.grad.to(inputs.dtype) for h in activations]\n")],
        check="test_shapes_and_dtypes_change",
        says="dtype",
    ),
    Wrong(
        "inputs always have a batch dimension",
        edits=[(FIRST, "    h = start.view(len(start), *start.shape[1:])\n")],
        check="test_single_numbers_and_empty_inputs",
    ),
    Wrong(
        "flattens the inputs with view",
        edits=[(FIRST, "    h = start.view(-1).view(start.shape)\n")],
        check="test_strided_and_expanded_inputs",
    ),
    Wrong(
        "writes to the inputs",
        edits=[(START, "    inputs.data.mul_(1 + 1e-12)\n" + START)],
        check="test_strided_and_expanded_inputs",
        says="changes",
    ),
    Wrong(
        "takes the gradient of a leaf from what its `.grad` has gained",
        edits=[
            (
                "    loss_fn(activations",
                "    old = inputs.grad if inputs.is_leaf else None\n    old = old if old is None else old.clone()\n    loss_fn(activations",
            ),
            (
                "    return [h.grad for h in activations]",
                "    first = activations[0].grad if old is None else inputs.grad - old\n    return [first, *(h.grad for h in activations[1:])]",
            ),
        ],
        check="test_inputs_that_are_a_leaf",
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
    Wrong(
        "cuts behind each layer, and walks back layer by layer",
        edits=instead("""
    befores, afters = [inputs.detach().requires_grad_()], []
    for layer in layers:
        afters.append(layer(befores[-1]))
        befores.append(afters[-1].detach().requires_grad_())
    loss_fn(befores[-1]).backward()
    for before, after in zip(befores[:0:-1], afters[::-1], strict=True):
        after.backward(before.grad)
    if inputs.requires_grad:
        inputs.backward(befores[0].grad)
    return [h.grad.clone() for h in befores]
"""),
        check="test_parameters_accumulate",
        says="second time",
    ),
    Wrong(
        "a hook that stays on the caller's inputs, one more with each call",
        edits=instead("""
    found = {}
    h = inputs if inputs.requires_grad else inputs.detach().requires_grad_()
    h.register_hook(lambda g: found.setdefault(0, g.clone()))
    for place, layer in enumerate(layers, start=1):
        h = layer(h)
        h.register_hook(lambda g, place=place: found.setdefault(place, g.clone()))
    loss_fn(h).backward()
    return [found[place] for place in range(len(layers) + 1)]
"""),
        check="test_inputs_that_are_a_leaf",
        says="number of hooks on inputs",
    ),
    Wrong(
        "retains the gradient at inputs that were computed, for ever",
        edits=[
            (FIRST, "    h = start if start.grad_fn else start.view_as(start)\n"),
            (RETURN, "    return [h.grad.clone() for h in activations]\n"),
            (BACKWARD, "    activations[0].grad = None\n" + BACKWARD),
        ],
        check="test_inputs_that_were_computed",
        says="of its own",
    ),
    Wrong(
        "hooks that stay on the layers",
        edits=[
            (
                "        h = layer(h)\n",
                """        if hasattr(layer, "register_forward_hook"):
            layer.register_forward_hook(lambda module, given, out: out.retain_grad())
        h = layer(h)
""",
            )
        ],
        check="test_runs_once",
        says="number of hooks on a layer",
    ),
    Wrong(
        "puts requires_grad of inputs back after an error of a layer only",
        edits=putting_back(
            unguarded="""\
    for h in activations:
        h.retain_grad()
    loss_fn(activations[-1]).backward()
"""
        ),
        check="test_inputs_without_gradients",
        says="loss_fn raises",
    ),
    Wrong(
        "remembers the output of each layer by the layer, which may come twice",
        edits=instead("""
    h = inputs.view_as(inputs) if inputs.requires_grad else inputs.detach().requires_grad_()
    h.retain_grad()
    start, outputs = h, {}
    for layer in layers:
        h = layer(h)
        h.retain_grad()
        outputs[layer] = h
    loss_fn(h).backward()
    return [h.grad.clone() for h in [start, *(outputs[layer] for layer in layers)]]
"""),
        check="test_each_activation",
        says="three places",
    ),
    Wrong(
        "puts requires_grad of inputs back after an error on the way there, not on the way back",
        edits=putting_back(
            guarded="""\
        for h in activations:
            h.retain_grad()
        loss = loss_fn(activations[-1])
""",
            unguarded="    loss.backward()\n",
        ),
        check="test_inputs_without_gradients",
        says="in its backward",
    ),
    Wrong(
        "takes the leaf's .grad away for the backward, and loses it in an error",
        edits=instead("""
    leaf = inputs.requires_grad and inputs.is_leaf
    before = inputs.grad if leaf else None
    if leaf:
        inputs.grad = None
        h = inputs
    else:
        h = inputs.view_as(inputs) if inputs.requires_grad else inputs.detach().requires_grad_()
    activations = [h]
    for layer in layers:
        activations.append(layer(activations[-1]))
    for h in activations:
        h.retain_grad()
    loss_fn(activations[-1]).backward()
    gradients = [h.grad.clone() for h in activations]
    if before is not None:
        inputs.grad = before + inputs.grad
    return gradients
"""),
        check="test_inputs_that_are_a_leaf",
        says="is gone",
    ),
    Wrong(
        "asks loss_fn once more where there are no layers",
        edits=[(BACKWARD, BACKWARD + "    if not layers:\n        loss_fn(h.detach())\n")],
        check="test_runs_once",
        says="without layers",
    ),
]
