"""Answers to gradient_penalty that people write."""

from grader.authoring.specimen import Right, Works, Wrong

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
        "forgets create_graph: a constant",
        edits=[("create_graph=True", "create_graph=False")],
        check="test_trains_the_critic",
        rung="job",
    ),
    Wrong(
        "real and fake the wrong way round",
        edits=[("weight * real + (1 - weight) * fake", "weight * fake + (1 - weight) * real")],
        check="test_mix_says_where",
        says="share of fake",
        rung="job",
    ),
    Wrong(
        "mix for flat samples only",
        edits=[(WEIGHT, "    weight = mix[:, None]\n")],
        check="test_values",
        rung="job",
    ),
    Wrong(
        "the mean of the scores: gradients too small by the size of the batch",
        edits=[("scores.sum()", "scores.mean()")],
        check="test_worked_example",
        says="mean score",
        rung="job",
    ),
    Wrong(
        "squares the mean, not each distance",
        edits=[(RESULT, "    return (norms.mean() - target).square()\n")],
        check="test_values",
        says="mean is squared",
        rung="job",
    ),
    Wrong(
        "the target is always 1",
        edits=[(RESULT, "    return (norms - 1).square().mean()\n")],
        check="test_worked_example",
        says="target is ignored",
        rung="job",
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
        rung="job",
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
        "puts the critic into evaluation mode",
        edits=[(SCORES, "    if hasattr(critic, 'eval'):\n        critic.eval()\n" + SCORES)],
        check="test_nothing_is_changed",
        says="training flag",
    ),
    Wrong(
        "a square root of 0: NaN",
        edits=[(NORMS, "    norms = slopes.flatten(1).square().sum(1).sqrt()\n")],
        check="test_gradient_of_zero",
        says="nan",
    ),
    Wrong(
        "in float32, whatever comes in",
        edits=[("slopes.flatten(1), dim=1)", "slopes.flatten(1).float(), dim=1).to(slopes.dtype)")],
        check="test_float64",
    ),
    Works(
        "as most repositories of WGAN-GP write it",
        code="""
import torch
from torch import autograd

def gradient_penalty(critic, real, fake, mix, target=1.0):
    alpha = mix.view(-1, *([1] * (real.dim() - 1))).expand_as(real)
    interpolates = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    d_interpolates = critic(interpolates)
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=torch.ones_like(d_interpolates),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - target) ** 2).mean()
""",
    ),
    Works(
        "the root by hand, with a small number under it",
        code="""
import torch

def gradient_penalty(critic, real, fake, mix, target=1.0):
    mix = mix.reshape(-1, *[1] * (real.ndim - 1))
    x = (mix * real.data + (1 - mix) * fake.data).requires_grad_()
    scores = critic(x)
    grads = torch.autograd.grad(scores, x, torch.ones_like(scores), create_graph=True, retain_graph=True)[0]
    norm = torch.sqrt(torch.sum(grads.reshape(len(x), -1) ** 2, dim=1) + 1e-12)
    return ((norm - target) ** 2).mean()
""",
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
]
