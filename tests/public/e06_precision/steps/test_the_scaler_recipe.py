"""The suite of the_scaler_recipe."""

import torch

from grader.checks import expect_close, expect_equal

CALL = "the_scaler_recipe(loss, optimizer, scaler)"
SCALE, LR = 1024.0, 0.5


def after(answer, x):
    """The weights, 1 before, after a step for the loss (weights * x).sum(), and the scale that comes back."""
    weights = torch.ones(len(x), requires_grad=True)
    scaler = torch.amp.GradScaler("cpu", init_scale=SCALE, growth_interval=1)
    scale = answer.the_scaler_recipe((weights * x).sum(), torch.optim.SGD([weights], lr=LR), scaler)
    return weights.detach(), scale


def test_step(answer, gen):
    """The optimizer steps with the gradients that it would have without a scale."""
    for n in (3, 5, 8):
        x = torch.randn(n, generator=gen)
        suspects = {
            "the gradients are still scaled: scaler.step(optimizer) unscales them": lambda x=x: (
                1 - LR * x * SCALE
            ),
            "the loss was not scaled, and yet unscaled: scaler.scale(loss)": lambda x=x: 1 - LR * x / SCALE,
            "two steps were made": lambda x=x: 1 - 2 * LR * x,
        }
        weights, _ = after(answer, x)
        before = torch.ones(n)
        expect_close(weights, 1 - LR * x, f"the weights after {CALL}", before=before, suspects=suspects)


def test_update(answer):
    """The scaler is updated: with this one, the scale doubles after each good step."""
    _, scale = after(answer, torch.ones(3))
    suspects = {"scaler.update() is missing": lambda: SCALE, "it is updated twice": lambda: 4 * SCALE}
    expect_equal(scale, 2 * SCALE, f"{CALL}, where the scale was {SCALE:g}", suspects=suspects)


def test_infinite_gradients(answer):
    """No step is made with infinite gradients, and the scale is halved."""
    weights, scale = after(answer, torch.tensor([float("inf"), 1.0]))
    expect_equal(weights, torch.ones(2), f"the weights after {CALL} with an infinite gradient")
    suspects = {"scaler.update() is missing": lambda: SCALE}
    expect_equal(
        scale,
        SCALE / 2,
        f"{CALL} with an infinite gradient, where the scale was {SCALE:g}",
        suspects=suspects,
    )


def oracle(answer, gen):
    return {f"{n} weights": after(answer, torch.randn(n, generator=gen)) for n in (2, 4, 7)}
