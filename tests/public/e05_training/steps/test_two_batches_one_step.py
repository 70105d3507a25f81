"""The suite of two_batches_one_step."""

from functools import partial

import torch
from torch import nn

from grader.checks import expect_equal
from grader.checks.contract import Contract, given

RATE = torch.tensor(0.1)


def run(step, weight, lr, *batches):
    """The weight after one call."""
    model = nn.Linear(weight.shape[1], 1, bias=False)
    model.weight = nn.Parameter(weight.clone())
    step(model, torch.optim.SGD(model.parameters(), float(lr)), *batches)
    return model.weight.detach()


def moved(weight, lr, first, second, shares=(0.5, 0.5)):
    pairs = zip((first, second), shares, strict=True)
    return weight - lr * sum(share * 2 * (x @ weight.T - y).T @ x / len(x) for (x, y), share in pairs)


def draw(gen):
    cases = {}
    for rows, n in [(1, 2), (3, 1), (5, 4)]:
        batches = [
            (torch.randn(rows, n, generator=gen), torch.randn(rows, 1, generator=gen)) for _ in range(2)
        ]
        cases[f"batches of {rows} rows"] = given(torch.randn(1, n, generator=gen), RATE, *batches)
    return cases


def pair(x, y):
    return torch.tensor([[x]]), torch.tensor([[y]])


contract = Contract(
    "two_batches_one_step(model, optimizer, first, second)",
    reference=moved,
    example=(given(torch.tensor([[2.0]]), RATE, pair(1.0, 1.0), pair(3.0, 2.0)), [[0.7]]),
    inputs=draw,
    suspects={
        "the two gradients are added, and their mean is asked for: divide each loss by 2": partial(
            moved, shares=(1, 1)
        ),
        "the gradient of the first batch is lost: clear once, before both": partial(moved, shares=(0, 0.5)),
        "only the second batch counts": partial(moved, shares=(0, 1)),
        "only the first batch counts": partial(moved, shares=(1, 0)),
        "a step is taken after each batch: take one, after both": lambda weight, lr, first, second: moved(
            moved(weight, lr, first, second, shares=(0.5, 0)), lr, first, second, shares=(0, 0.5)
        ),
    },
    use=lambda answer, *given: run(answer.two_batches_one_step, *given),
)


def test_one_batch_at_a_time(answer):
    """The model runs on one batch at a time."""
    model, seen = nn.Linear(1, 1), []
    model.register_forward_hook(lambda _model, inputs, _result: seen.append(len(inputs[0])))
    batch = torch.ones(3, 1), torch.zeros(3, 1)
    answer.two_batches_one_step(model, torch.optim.SGD(model.parameters(), 0.1), batch, batch)
    suspects = {"the batches are put together: run the model on each by itself": lambda: [6]}
    expect_equal(seen, [3, 3], "the rows on which the model runs, in each of its calls,", suspects=suspects)
