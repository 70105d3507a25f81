"""The suite of fit_one_batch."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_that
from grader.checks.contract import Contract, given

MOST = 500


def run(fit, weight, lr, x, y):
    """How many steps were told, how many were taken, and the weight afterwards."""
    model, taken = nn.Linear(weight.shape[1], 1, bias=False), []
    model.weight = nn.Parameter(weight.clone())
    optimizer = torch.optim.SGD(model.parameters(), float(lr))
    optimizer.register_step_post_hook(lambda *_: taken.append(1))

    def stop_at_the_latest(_model, _inputs):
        expect_that(len(calls) < MOST, f"the model has run {MOST} times, and {len(taken)} steps were taken")
        calls.append(1)

    calls = []
    model.register_forward_pre_hook(stop_at_the_latest)
    steps = fit(model, optimizer, x, y)
    return {"steps": steps, "steps that were taken": len(taken), "weight": model.weight.detach()}


def steps_by_hand(weight, lr, x, y, more=0, clear=True):
    steps = gradient = 0
    while more or F.mse_loss(x @ weight.T, y) >= 0.01:
        more -= int(F.mse_loss(x @ weight.T, y) < 0.01)
        gradient = gradient * (not clear) + 2 * (x @ weight.T - y).T @ x / len(x)
        weight = weight - lr * gradient
        steps += 1
    return {"steps": steps, "steps that were taken": steps, "weight": weight}


def backward_twice(_weight, _lr, x, y):
    loss = F.mse_loss(x.requires_grad_(), y)
    loss.backward()
    loss.backward()


def draw(gen):
    cases = {}
    for rows, rate in [(1, 0.02), (4, 0.05), (8, 0.1)]:
        x = 0.5 + torch.rand(rows, 1, generator=gen)
        weight, true = 3 + 4 * torch.rand(1, 1, generator=gen), torch.randn(1, 1, generator=gen)
        cases[f"{rows} rows with lr={rate}"] = given(weight, torch.tensor(rate), x, x @ true)
    return cases


contract = Contract(
    "fit_one_batch(model, optimizer, x, y)",
    reference=steps_by_hand,
    example=(
        given(torch.zeros(1, 1), torch.tensor(0.25), torch.ones(1, 1), torch.ones(1, 1)),
        {"steps": 4, "steps that were taken": 4, "weight": torch.tensor([[0.9375]])},
    ),
    inputs=draw,
    suspects={
        "a step too many: work out the loss after the step, and look at it before the next one": (
            lambda *given: steps_by_hand(*given, more=1)
        ),
        "the gradients pile up: clear them before each backward": (
            lambda *given: steps_by_hand(*given, clear=False)
        ),
        "the loss is worked out once: after each step it has to be worked out anew": backward_twice,
        "this is the loss, and the number of steps is asked for": lambda *given: (
            (found := steps_by_hand(*given))
            | {"steps": F.mse_loss(given[2] @ found["weight"].T, given[3]).item()}
        ),
        "that many steps were taken, but the last one is not counted": lambda *given: (
            steps_by_hand(*given) | {"steps": steps_by_hand(*given)["steps"] - 1}
        ),
    },
    use=lambda answer, *given: run(answer.fit_one_batch, *given),
)
