"""What grades missing_unsqueeze: rows meet their own targets and weights, gradients, shapes, memory."""

import torch

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_raises,
    expect_that,
    peak_bytes,
    unchanged,
)
from grader.checks.devices import on_host

CALL = "weighted_mse(predictions, targets, weights)"


def draw(batch, gen, dtype=torch.float32):
    predictions = torch.randn(batch, 1, generator=gen, dtype=dtype)
    targets = torch.randn(batch, generator=gen, dtype=dtype) + 2
    return predictions, targets, torch.rand(batch, generator=gen, dtype=dtype) + 0.1


def exact(predictions, targets, weights):
    """In float64, all three with one dimension."""
    weights = weights.double()
    return (weights * (predictions.double()[:, 0] - targets.double()) ** 2).sum() / weights.sum()


def mistakes(predictions, targets, weights):
    """What people compute instead, for `suspects`."""
    table = predictions - targets  # (batch, batch)
    errors = table.diagonal()
    return {
        "(batch, 1) less (batch,) is (batch, batch): each row meets all targets": lambda: (
            (weights * table**2).sum() / weights.sum()
        ),
        "the sum is divided by the number of rows, not by the sum of the weights": lambda: (
            weights * errors**2
        ).mean(),
        "weights are squared with the errors": lambda: ((weights * errors) ** 2).sum() / weights.sum(),
        "the mean of the squared errors, without weights": lambda: (errors**2).mean(),
    }


def test_each_row_has_its_own_target(answer, gen):
    """Each prediction is compared with the target of its own row, for batches of any size."""
    for batch in (33, 2, 1):
        predictions, targets, _ = draw(batch, gen)
        weights = torch.ones(batch)
        wanted = exact(predictions, targets, weights).float()
        yours = answer.weighted_mse(predictions, targets, weights)
        call, suspects = f"{CALL} with weights of 1 and {batch} rows", mistakes(predictions, targets, weights)
        expect_close(yours, wanted, call, suspects=suspects)


def test_each_row_has_its_own_weight(answer, gen):
    """Each error counts with the weight of its own row, and the sum is divided by that of the weights."""
    for batch, size in [(33, 1e6), (2, 1e-9), (1, 1.0)]:  # of one row, several mistakes give the same
        predictions, targets, weights = draw(batch, gen)
        inputs = predictions * size, targets * size, weights * size
        wanted, call = exact(*inputs).float(), f"{CALL} with {batch} numbers of about {size:g}"
        expect_close(answer.weighted_mse(*inputs), wanted, call, suspects=mistakes(*inputs))
    predictions, targets, weights = draw(5, gen)
    yours = answer.weighted_mse(predictions, targets, weights * 1e-20)
    expect_close(yours, exact(predictions, targets, weights).float(), f"{CALL} with weights of about 1e-20")


def test_float64(answer, gen):
    """Inputs in float64 give a loss in float64, with all its digits."""
    inputs = draw(7, gen, torch.float64)
    wanted = exact(*inputs)
    expect_close(answer.weighted_mse(*inputs), wanted, f"{CALL} in float64")
    inputs[0][3] = torch.nan
    loss = answer.weighted_mse(*inputs)
    expect_that(bool(loss.isnan()), f"{CALL} hides a prediction of NaN", yours=loss, wanted="NaN")


def test_small_errors_of_large_numbers(answer):
    """Predictions near 10000 are compared as exactly as those near 0."""
    errors, targets = torch.tensor([0.5, -0.25, 1.0, 0.0]), torch.tensor([1e4, 9999.0, -1e4, 1e4])
    yours = answer.weighted_mse((targets + errors)[:, None], targets, torch.tensor([1.0, 2.0, 1.0, 4.0]))
    wanted = torch.tensor((0.25 + 2 * 0.0625 + 1.0) / 8)
    expect_close(yours, wanted, f"{CALL} near 10000")


def test_columns_of_a_table(answer, gen):
    """Columns of a table and of wider outputs, which are strided, are read right and left alone."""
    table, outputs = torch.rand(6, 3, generator=gen) + 0.1, torch.randn(6, 4, generator=gen)
    targets, weights, predictions = table[:, 0], table[:, 2], outputs[:, 1:2]
    wanted = exact(predictions, targets, weights).float()
    with unchanged(CALL, predictions=predictions, targets=targets, weights=weights):
        loss = answer.weighted_mse(predictions, targets, weights)
    expect_close(loss, wanted, f"{CALL} of columns")


def test_gradient(answer, gen):
    """Gradients flow to predictions, targets and weights, each to its own row."""
    inputs = draw(6, gen, torch.float64)
    inputs[1][2] = inputs[0][2, 0]  # a perfect prediction: its gradient is 0
    names, equal = "predictions targets weights", torch.ones(6, dtype=torch.float64)
    expect_gradients(answer.weighted_mse, inputs, exact, gen=gen, call=CALL, names=names)
    call = f"{CALL} with weights of 1"
    expect_gradients(answer.weighted_mse, (*inputs[:2], equal), exact, gen=gen, call=call, names=names)
    perfect = inputs[1][:, None].clone().requires_grad_()
    answer.weighted_mse(perfect, *inputs[1:]).backward()
    wanted = torch.zeros(6, 1, dtype=torch.float64)
    expect_close(perfect.grad, wanted, "the gradient of predictions that are all equal to their targets")


def test_stays_on_the_device(answer, device, gen):
    """Inputs on another device give a loss there."""
    inputs = draw(5, gen)
    wanted = exact(*inputs).float()
    there = [x.to(device) for x in inputs]
    loss = answer.weighted_mse(*there)
    expect_equal(loss.device, there[0].device, f"the device of {CALL}")
    expect_close(on_host(loss), wanted, f"{CALL} on another device")


def test_memory_in_proportion_to_the_batch(answer):
    """Memory grows in proportion to the batch: there is no (batch, batch) tensor on the way."""
    batch = 400
    table = torch.ones(batch, 3)
    contiguous = torch.zeros(batch, 1), torch.ones(batch), torch.ones(batch)
    for inputs in (contiguous, (table[:, :1], table[:, 1], table[:, 2])):
        used, one = peak_bytes(lambda inputs=inputs: answer.weighted_mse(*inputs)), batch * 4
        expect_that(
            used <= 40 * one,
            f"{CALL} takes too much memory",
            yours=f"{used:,} bytes, where one number for each of {batch} rows takes {one:,}",
            wanted="memory in proportion to batch",
        )


def test_no_loop(answer, gen):
    """The cost is the same for 6 rows and for 24."""
    inputs = {n: draw(n, gen) for n in (6, 24)}
    expect_flat_cost(lambda n: lambda: answer.weighted_mse(*inputs[n]), CALL, over="batch")


def test_predictions_of_another_shape(answer):
    """Predictions that are not exactly (batch, 1) raise ValueError."""
    for shape in [(4,), (4, 2), (1, 4), (1, 1), (3, 1), (4, 1, 1), (2, 2), (), (1,)]:
        inputs = torch.zeros(shape), torch.zeros(4), torch.ones(4)
        call = f"{CALL} with predictions of shape {shape}, the others of (4,)"
        expect_raises(ValueError, lambda inputs=inputs: answer.weighted_mse(*inputs), call)


def test_targets_of_another_shape(answer):
    """Targets that are not exactly (batch,) raise ValueError, also those that could be broadcast."""
    for shape in [(4, 1), (1,), (1, 4), (3,), (), (2, 2), (4, 4)]:
        inputs = torch.zeros(4, 1), torch.zeros(shape), torch.ones(4)
        call = f"{CALL} with targets of shape {shape}, where the batch is 4"
        expect_raises(ValueError, lambda inputs=inputs: answer.weighted_mse(*inputs), call)
    left = tuple(inputs[0].shape)
    expect_that(left == (4, 1), "predictions change shape", yours=f"{left} after {call}", wanted="(4, 1)")


def test_weights_of_another_shape(answer):
    """Weights that are not exactly (batch,) raise ValueError, also those that could be broadcast."""
    for shape in [(4, 1), (1,), (1, 4), (5,), (), (4, 4)]:
        inputs = torch.zeros(4, 1), torch.zeros(4), torch.ones(shape)
        call = f"{CALL} with weights of shape {shape}, where the batch is 4"
        expect_raises(ValueError, lambda inputs=inputs: answer.weighted_mse(*inputs), call)
    one = torch.zeros(1, 1), torch.zeros(1), torch.ones(())
    expect_raises(ValueError, lambda: answer.weighted_mse(*one), f"{CALL} with one row and a 0-d weight")


def test_several_wrong_shapes(answer):
    """Inputs that fit each other, but not what is asked for, raise ValueError, also in a batch of one."""
    for shapes in [
        ((4,), (4, 1), (4,)),
        ((4,), (4, 1), (4, 1)),
        ((4, 1), (4, 1), (4, 1)),
        ((4,), (4,), (4,)),
        ((1,), (1,), (1,)),
        ((1, 1), (1, 1), (1,)),
        ((1, 1), (1,), (1, 1)),
        ((1, 1), (), (1,)),
        ((), (), ()),
        ((4, 1), (1,), (1,)),
        ((1, 1), (4,), (4,)),
        ((4, 2), (8,), (8,)),
        ((0, 1), (1,), (1,)),
        ((1, 4, 1), (1, 4), (1, 4)),
        ((4, 1), (3,), (5,)),
    ]:
        inputs = [torch.ones(shape) for shape in shapes]
        call = f"{CALL} of shapes {', '.join(map(str, shapes))}"
        expect_raises(ValueError, lambda inputs=inputs: answer.weighted_mse(*inputs), call)


def oracle(answer, gen):
    inputs = [x.requires_grad_() for x in draw(9, gen)]
    loss = answer.weighted_mse(*inputs)
    loss.backward()
    return [loss.detach(), *(x.grad for x in inputs)]
