"""What grades missing_unsqueeze: rows meet their own targets and weights, gradients, shapes, memory."""

import pytest
import torch

from grader.checks import expect_that, peak_bytes
from grader.checks.contract import Contract, device, dtypes, errors, flat_cost, gradients, untouched, values

CALL = "weighted_mse(predictions, targets, weights)"


def draw(batch, gen, equal=False):
    predictions, targets = torch.randn(batch, 1, generator=gen), torch.randn(batch, generator=gen) + 2
    return predictions, targets, torch.ones(batch) if equal else torch.rand(batch, generator=gen) + 0.1


def batches(gen):
    return {
        "nine rows": draw(9, gen),
        "two rows with weights of 1": draw(2, gen, True),
        "thirty rows": draw(30, gen),
    }


def weighted_mean(numbers, weights):
    return (weights * numbers).sum() / weights.sum()


def reference(predictions, targets, weights):
    return weighted_mean((predictions[:, 0] - targets) ** 2, weights)


def of_shapes(*several):
    """Calls with ones of these shapes."""
    return lambda gen: {f"shapes {', '.join(map(str, s))}": tuple(map(torch.ones, s)) for s in several}


contract = Contract(
    CALL,
    reference=reference,
    inputs=batches,
    gradient="predictions",
    suspects={
        "(batch, 1) less (batch,) is (batch, batch): each row meets all targets": lambda p, t, w: (
            weighted_mean((p - t) ** 2, w)
        ),
        "the sum is divided by the number of rows, not by the sum of the weights": lambda p, t, w: (
            w * (p[:, 0] - t) ** 2
        ).mean(),
        "weights are squared with the errors": lambda p, t, w: weighted_mean(w * (p[:, 0] - t) ** 2, w),
        "the mean of the squared errors, without weights": lambda p, t, w: ((p[:, 0] - t) ** 2).mean(),
    },
    job=[
        values(
            inputs=lambda gen: [draw(batch, gen, equal=True) for batch in (33, 2)],
            title="Each prediction is compared with the target of its own row.",
        ),
        values(
            inputs=lambda gen: [draw(batch, gen) for batch in (33, 2)],
            name="each_row_has_its_own_weight",
            title="Each error counts with the weight of its row, and weights are divided by their sum.",
        ),
        values(
            inputs=lambda gen: [draw(1, gen)], name="one_row", title="A batch of one row has a loss as well."
        ),
        flat_cost(lambda n: (torch.zeros(n, 1), torch.zeros(n), torch.ones(n)), over="batch"),
    ],
    fine=[
        errors(
            ValueError,
            of_shapes(
                *[(s, (4,), (4,)) for s in [(4,), (4, 2), (1, 4), (1, 1), (3, 1), (4, 1, 1)]],
                ((1,), (1,), (1,)),
            ),
            name="predictions_of_another_shape",
            title="Predictions that are not exactly (batch, 1) raise ValueError.",
        ),
        errors(
            ValueError,
            of_shapes(*[((4, 1), s, (4,)) for s in [(4, 1), (1,), (1, 4), (3,), ()]], ((1, 1), (1, 1), (1,))),
            name="targets_of_another_shape",
            title="Targets that are not exactly (batch,) raise ValueError, those that broadcast as well.",
        ),
        errors(
            ValueError,
            of_shapes(*[((4, 1), (4,), s) for s in [(4, 1), (1,), (1, 4), (5,), ()]], ((1, 1), (1,), ())),
            name="weights_of_another_shape",
            title="Weights that are not exactly (batch,) raise ValueError, those that broadcast as well.",
        ),
        gradients(
            "targets weights", inputs=lambda gen: [draw(6, gen)], name="gradients_of_targets_and_weights"
        ),
        dtypes(torch.float64, title="Inputs in float64 give a loss in float64, with all its digits."),
        untouched(),
        device(),
    ],
)


@pytest.mark.fine
def test_memory_in_proportion_to_the_batch(answer):
    """Memory grows in proportion to the batch: there is no (batch, batch) tensor on the way."""
    batch = 400
    inputs = torch.zeros(batch, 1), torch.ones(batch), torch.ones(batch)
    used, one = peak_bytes(lambda: answer.weighted_mse(*inputs)), batch * 4
    expect_that(
        used <= 40 * one,
        f"{CALL} takes too much memory",
        yours=f"{used:,} bytes, where one number for each of {batch} rows takes {one:,}",
        wanted="memory in proportion to batch",
    )
