"""The suite of draw_by_weight."""

import torch

from grader.checks import expect_number, expect_that
from grader.checks.contract import Contract

SIZES = [(5, 9), (7, 7), (1, 60)]


def one_choice(gen, rows, columns):
    """Weights that leave nothing to chance: only one in each row is not 0."""
    place = torch.randint(columns, (rows, 1), generator=gen)
    return torch.zeros(rows, columns).scatter(1, place, torch.rand(rows, 1, generator=gen) + 0.1)


contract = Contract(
    "draw_by_weight(weights)",
    reference=lambda weights: weights.argmax(1),
    inputs=lambda gen: {
        f"{rows} × {columns}, one weight above 0 in each row": one_choice(gen, rows, columns)
        for rows, columns in SIZES
    },
    dims="rows",
    suspects={
        "the dim of the draws is left, of size 1: `squeeze(1)` takes it away": (
            lambda weights: torch.multinomial(weights, 1)
        ),
    },
)


def test_how_often(answer):
    """Of the weights 1, 3 and 0, place 1 is drawn three times in four, and place 2 never."""
    places = answer.draw_by_weight(torch.tensor([[1.0, 3.0, 0.0]]).repeat(4000, 1)).flatten().tolist()
    likely = "the weights are the chances, as they are: torch.multinomial(weights, …)"
    expect_that(2 not in places, "place 2 is drawn, whose weight is 0", likely=likely)
    call = "share of place 1 in draw_by_weight(weights) of 4000 rows [1, 3, 0]"
    suspects = {"the largest weight wins every time: nothing is drawn": lambda: 1.0}
    expect_number(places.count(1) / 4000, 0.75, call, atol=0.05, suspects=suspects)
