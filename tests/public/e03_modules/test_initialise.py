"""The worked example of initialise."""

from torch import nn

from grader.checks import expect_that


def test_worked_example(answer):
    """Both layers of the statement have a standard deviation of about 0.05, and biases of 0."""
    model = nn.Sequential(nn.Conv2d(3, 32, kernel_size=5), nn.Flatten(), nn.Linear(800, 100))
    model.apply(answer.initialise)
    for n, fan in ((0, "fan_out"), (2, "fan_in")):
        std = float(model[n].weight.detach().std())
        told = f"wrong standard deviation of model[{n}].weight: its {fan} is 800"
        expect_that(abs(std / 0.05 - 1) < 0.1, told, yours=f"{std:.4g}", wanted="about 0.05")
        bias = model[n].bias.detach()
        expect_that(not bias.any(), f"model[{n}].bias is not 0: biases begin at 0", yours=bias[:4].tolist())
