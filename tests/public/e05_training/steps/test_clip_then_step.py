"""The suite of clip_then_step."""

import torch
from torch import nn

from grader.checks.contract import Contract, given

RATE = torch.tensor(0.3)


def run(clip, weight, lr, x, y):
    """Weight and bias, which was 0, after one call."""
    model = nn.Linear(weight.shape[1], 1)
    model.weight, model.bias = nn.Parameter(weight.clone()), nn.Parameter(torch.zeros_like(weight[0, :1]))
    clip(model, torch.optim.SGD(model.parameters(), float(lr)), x, y)
    return {"weight": model.weight.detach(), "bias": model.bias.detach()}


def moved(weight, lr, x, y, shorten=lambda g, norm: g / max(norm, 1.0)):
    slope = 2 * (x @ weight.T - y) / len(x)
    gradients = slope.T @ x, slope.sum(0)
    norm = float(torch.cat([g.flatten() for g in gradients]).norm())
    by_weight, by_bias = (lr * shorten(g, norm) for g in gradients)
    return {"weight": weight - by_weight, "bias": -by_bias}


def draw(gen):
    cases = {}
    for rows, n, size in [(1, 2, 5.0), (4, 3, 100.0), (3, 6, 20.0), (2, 4, 0.02)]:
        weight, x = torch.randn(1, n, generator=gen), torch.randn(rows, n, generator=gen)
        y = x @ weight.T + size * (
            1 + torch.rand(rows, 1, generator=gen)
        )  # so that the error is size and more
        cases["short gradients" if size < 1 else f"{rows} rows of {n} features"] = given(weight, RATE, x, y)
    return cases


contract = Contract(
    "clip_then_step(model, optimizer, x, y)",
    reference=moved,
    example=(
        given(torch.zeros(1, 2), RATE, torch.tensor([[2.0, 2.0]]), torch.tensor([[-0.5]])),
        {"weight": torch.tensor([[-0.2, -0.2]]), "bias": torch.tensor([-0.1])},
    ),
    inputs=draw,
    suspects={
        "the gradients move the weights unshortened: clip after backward, and before step": (
            lambda *given: moved(*given, shorten=lambda g, _: g)
        ),
        "each number is clipped by itself: clip_grad_norm_ shortens all together": (
            lambda *given: moved(*given, shorten=lambda g, _: g.clamp(-1, 1))
        ),
        "each parameter is clipped by itself: hand over all of model.parameters() at once": (
            lambda *given: moved(*given, shorten=lambda g, _: g / max(float(g.norm()), 1.0))
        ),
        "gradients that are short enough become longer: only longer ones become 1": (
            lambda *given: moved(*given, shorten=lambda g, norm: g / norm)
        ),
        "nothing moves: backward and step are needed, and zero_grad before backward": (
            lambda *given: moved(*given, shorten=lambda g, _: 0 * g)
        ),
    },
    use=lambda answer, *given: run(answer.clip_then_step, *given),
)
