"""The suite of a_running_average."""

import torch

from grader.checks.contract import Contract, given


def two(gen):
    return [given(*(torch.randn(size, generator=gen) for _ in range(2))) for size in [(4,), (2, 3), (3, 3)]]


def both(answer, average, weight):
    """What average and weight are after the call."""
    average, weight = average.clone(), weight.clone()
    answer.take_in(average, weight)
    return average, weight


contract = Contract(
    "take_in(average, weight)",
    reference=lambda average, weight: (0.9 * average + 0.1 * weight, weight),
    example=(
        ([0.0, 10.0], [10.0, 20.0]),
        (torch.tensor([1.0, 11.0]), torch.tensor([10.0, 20.0])),
    ),
    inputs=two,
    use=both,
    suspects={
        "average has not changed: write into it, as `lerp_` does": lambda average, weight: (average, weight),
        "0.9 of weight, and 0.1 of average: `lerp_` takes the way to go": lambda average, weight: (
            0.1 * average + 0.9 * weight,
            weight,
        ),
        "0.1 of weight is added, and average keeps all of itself": lambda average, weight: (
            average + 0.1 * weight,
            weight,
        ),
    },
)
