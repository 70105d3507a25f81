"""Answers to gradient_penalty that people write."""

from grader.authoring.specimen import Right, Wrong

WEIGHT = "    weight = mix.view(-1, *[1] * (real.dim() - 1))  # (batch, 1, ..., 1)\n"
BETWEEN = (
    "    between = (weight * real + (1 - weight) * fake).detach().requires_grad_()  # (batch, *features)\n"
)
SCORES = "    scores = critic(between)  # (batch,) or (batch, 1)\n"
GRAD = "    (slopes,) = torch.autograd.grad(scores.sum(), between, create_graph=True)\n"
NORMS = "    norms = torch.linalg.vector_norm(slopes.flatten(1), dim=1)  # (batch,)\n"
RESULT = "    return (norms - target).square().mean()\n"

SPECIMENS = [
    Wrong(
        "lets mix be broadcast where it fits, along the wrong dimension",
        edits=[
            (
                "mix.view(-1, *[1] * (real.dim() - 1))",
                "mix if mix.shape == real.shape[1:] else mix.view(-1, *[1] * (real.dim() - 1))",
            )
        ],
        check="test_values",
    ),
    Wrong(
        "backward with create_graph: `.grad` of the mixture and its graph hold each other",
        edits=[
            (
                GRAD,
                "    scores.sum().backward(create_graph=True, inputs=[between])\n    slopes = between.grad\n",
            )
        ],
        check="test_nothing_is_held",
        says="leaves tensors in memory",
    ),
    Wrong(
        "multiplies the square out",
        edits=[
            (RESULT, "    return norms.square().mean() - 2 * target * norms.mean() + target**2\n"),
        ],
        check="test_float64",
        says="5.000005",
    ),
    Wrong(
        "puts the critic into evaluation mode",
        edits=[(SCORES, "    if hasattr(critic, 'eval'):\n        critic.eval()\n" + SCORES)],
        check="test_nothing_is_changed",
        says="training flag",
    ),
    Wrong(
        "squeezes the slopes: samples of one feature lose their dimension",
        edits=[(NORMS, "    norms = torch.linalg.vector_norm(slopes.squeeze().flatten(1), dim=1)\n")],
        check="test_values",
    ),
    Wrong(
        "forgets create_graph: a constant",
        edits=[("create_graph=True", "create_graph=False")],
        check="test_gradients_of_the_parameters",
    ),
    Wrong(
        "keeps the graph of the scores, but makes none of the gradient",
        edits=[
            ("create_graph=True", "retain_graph=True"),
            (RESULT, RESULT.rstrip() + " + 0 * scores.sum()\n"),
        ],
        check="test_gradients_of_the_parameters",
    ),
    Wrong(
        "detaches the gradient on its way to the norm",
        edits=[("slopes.flatten(1)", "slopes.detach().flatten(1)")],
        check="test_gradients_of_the_parameters",
    ),
    Wrong(
        "does not detach the mixture: trains the generator too",
        edits=[
            (
                BETWEEN,
                "    between = weight * real + (1 - weight) * fake\n"
                "    if not between.requires_grad:\n        between.requires_grad_()\n",
            )
        ],
        check="test_data_gets_no_gradient",
        says="not detached",
    ),
    Wrong(
        "detaches the samples, and forgets mix",
        edits=[
            (
                BETWEEN,
                "    between = weight * real.detach() + (1 - weight) * fake.detach()\n"
                "    if not between.requires_grad:\n        between.requires_grad_()\n",
            )
        ],
        check="test_data_gets_no_gradient",
        says="gradient on mix",
    ),
    Wrong(
        "backward with create_graph: gradients on the parameters at once",
        edits=[
            (
                GRAD,
                "    scores.sum().backward(create_graph=True)\n    slopes = between.grad\n",
            )
        ],
        check="test_nothing_is_changed",
    ),
    Wrong(
        "real and fake the wrong way round",
        edits=[("weight * real + (1 - weight) * fake", "weight * fake + (1 - weight) * real")],
        check="test_mix_says_where",
    ),
    Wrong(
        "one mix for the whole batch",
        edits=[(WEIGHT, "    weight = mix[0]\n")],
        check="test_mix_says_where",
    ),
    Wrong(
        "draws its own mix",
        edits=[(WEIGHT, WEIGHT.replace("mix.view", "torch.rand_like(mix).view"))],
        check="test_mix_says_where",
    ),
    Wrong(
        "the gradient at the real samples",
        edits=[("(weight * real + (1 - weight) * fake)", "real")],
        check="test_mix_says_where",
    ),
    Wrong(
        "mix for flat samples only",
        edits=[(WEIGHT, "    weight = mix[:, None]\n")],
        check="test_values",
    ),
    Wrong(
        "one norm for the whole batch",
        edits=[(NORMS, "    norms = torch.linalg.vector_norm(slopes)\n")],
        check="test_values",
    ),
    Wrong(
        "the norm over the last dimension only",
        edits=[(NORMS, "    norms = torch.linalg.vector_norm(slopes, dim=-1)\n")],
        check="test_values",
    ),
    Wrong(
        "the mean of the scores: gradients too small by the size of the batch",
        edits=[("scores.sum()", "scores.mean()")],
        check="test_values",
    ),
    Wrong(
        "adds up instead of taking the mean",
        edits=[(RESULT, "    return (norms - target).square().sum()\n")],
        check="test_values",
    ),
    Wrong(
        "squares the mean, not each distance",
        edits=[(RESULT, "    return (norms.mean() - target).square()\n")],
        check="test_values",
    ),
    Wrong(
        "the target is always 1",
        edits=[(RESULT, "    return (norms - 1).square().mean()\n")],
        check="test_values",
    ),
    Wrong(
        "only norms above the target count",
        edits=[(RESULT, "    return (norms - target).clamp(min=0).square().mean()\n")],
        check="test_gradient_of_zero",
    ),
    Wrong(
        "a square root of 0: NaN",
        edits=[(NORMS, "    norms = slopes.flatten(1).square().sum(1).sqrt()\n")],
        check="test_gradient_of_zero",
        says="nan",
    ),
    Wrong(
        "a small number under the square root",
        edits=[(NORMS, "    norms = (slopes.flatten(1).square().sum(1) + 1e-12).sqrt()\n")],
        check="test_float64",
    ),
    Wrong(
        "in float32, whatever comes in",
        edits=[("slopes.flatten(1), dim=1)", "slopes.flatten(1).float(), dim=1).to(slopes.dtype)")],
        check="test_float64",
    ),
    Wrong(
        "squeezes the scores to a row, which leaves none for a batch of one",
        edits=[(SCORES, "    scores = torch.stack([s for s in critic(between).squeeze()])\n")],
        check="test_values",
    ),
    Wrong(
        "goes through the samples one by one",
        edits=[
            (SCORES, "    scores = [critic(one[None]) for one in between]\n"),
            (
                GRAD,
                "    slopes = torch.autograd.grad([s.sum() for s in scores], between, create_graph=True)[0]\n",
            ),
        ],
        check="test_one_call",
    ),
    Wrong(
        "one gradient for each score",
        edits=[
            (
                GRAD,
                """    slopes = torch.stack(
        [torch.autograd.grad(s.sum(), between, create_graph=True)[0][i] for i, s in enumerate(scores)]
    )
""",
            )
        ],
        check="test_one_call",
        says="grows with batch",
    ),
    Wrong(
        "mixes in place in the caller's samples",
        edits=[
            (
                BETWEEN,
                "    between = real.data.lerp_(fake.data, 1 - weight.detach()).detach().requires_grad_()\n",
            )
        ],
        check="test_nothing_is_changed",
        says="changes its input real",
    ),
    Wrong(
        "frees the critic of its gradients first",
        edits=[
            (
                SCORES,
                SCORES + "    todo = [scores.grad_fn]\n"
                "    while todo:\n"
                "        node = todo.pop()\n"
                "        if hasattr(node, 'variable'):\n"
                "            node.variable.grad = None\n"
                "        elif node is not None:\n"
                "            todo += [before for before, _ in node.next_functions]\n",
            )
        ],
        check="test_nothing_is_changed",
    ),
    Wrong(
        "no norm below a millionth",
        edits=[(NORMS, "    norms = slopes.flatten(1).square().sum(1).clamp(min=1e-12).sqrt()\n")],
        check="test_gradient_of_zero",
    ),
    Wrong(
        "fills NaN with 0 afterwards: the parameters get NaN",
        edits=[
            (
                NORMS,
                "    norms = slopes.flatten(1).square().sum(1)\n    norms = torch.where(norms == 0, 0, norms.sqrt())\n",
            )
        ],
        check="test_gradient_of_zero",
        says="nan",
    ),
    Wrong(
        "views the gradient, which need not be contiguous",
        edits=[("slopes.flatten(1)", "slopes.view(len(slopes), -1)")],
        check="test_values",
    ),
    Right(
        "lerp, grad_outputs, and a norm over all dims",
        code="""
import torch

def gradient_penalty(critic, real, fake, mix, target=1.0):
    with torch.no_grad():
        shape = (mix.shape[0],) + (1,) * (real.ndim - 1)
        points = torch.lerp(fake, real, mix.reshape(shape))
    points.requires_grad_(True)
    scores = critic(points)
    gradient = torch.autograd.grad(
        outputs=scores, inputs=points, grad_outputs=torch.ones_like(scores), create_graph=True, retain_graph=True
    )[0]
    norm = gradient.reshape(len(points), -1).norm(2, dim=1)
    return torch.nn.functional.mse_loss(norm, torch.full_like(norm, target))
""",
    ),
    Right(
        "torch.func.vjp, and a square root that never sees a 0",
        code="""
import torch

def gradient_penalty(critic, real, fake, mix, target=1.0):
    real, fake, mix = (t.detach() for t in (real, fake, mix))
    t = mix[(...,) + (None,) * (real.dim() - 1)]
    scores, pull = torch.func.vjp(critic, fake + t * (real - fake))
    (slopes,) = pull(torch.ones_like(scores))
    squares = (slopes * slopes).reshape(real.shape[0], -1).sum(-1)
    dead = squares == 0
    norms = torch.where(dead, 0.0, torch.where(dead, 1.0, squares).sqrt())
    return (norms - target).pow(2).sum() / norms.shape[0]
""",
    ),
    Wrong(
        "clears the gradients of the critic, as before each step",
        edits=[(SCORES, "    if hasattr(critic, 'zero_grad'):\n        critic.zero_grad()\n" + SCORES)],
        check="test_nothing_is_changed",
        says=".grad of the parameters",
    ),
    Wrong(
        "makes no graph where the critic is in evaluation mode",
        edits=[(GRAD, GRAD.replace("=True", "=getattr(critic, 'training', True)"))],
        check="test_nothing_is_changed",
        says="evaluation mode",
    ),
]
