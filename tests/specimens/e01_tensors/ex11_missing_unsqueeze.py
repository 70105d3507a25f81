"""Answers to missing_unsqueeze that people write."""

from grader.authoring.specimen import Right, Wrong

COMPUTE = """    errors = predictions.squeeze(1) - targets  # (batch,)
    return (weights * errors**2).sum() / weights.sum()
"""
CHECK = "    if batch is None or weights.shape != (batch,) or predictions.shape != (batch, 1):\n"


def instead(compute):
    return [
        (COMPUTE, compute),
        ("from jaxtyping import Float\n", "import torch\nfrom jaxtyping import Float\n"),
    ]


SPECIMENS = [
    Wrong(
        "divides by the sum of the weights with F.normalize, which has an eps",
        edits=[
            (
                "(weights * errors**2).sum() / weights.sum()",
                "(F.normalize(weights, p=1, dim=0) * errors**2).sum()",
            ),
            (
                "from torch import Tensor\n",
                "from torch import Tensor\nfrom torch.nn import functional as F\n",
            ),
        ],
        check="test_each_row_has_its_own_weight",
        says="1e-20",
    ),
    Wrong(
        "hides NaN",
        edits=instead(
            COMPUTE.replace(
                "predictions.squeeze(1) - targets", "(predictions.squeeze(1) - targets).nan_to_num()"
            )
        ),
        check="test_float64",
        says="NaN",
    ),
    Wrong(
        "squeezes the predictions in place, and gives them their dimension back where nothing fails",
        code="""
def weighted_mse(predictions, targets, weights):
    if predictions.dim() != 2 or predictions.size(1) != 1:
        raise ValueError("predictions")
    column = predictions if not predictions.requires_grad else predictions.clone()
    column.squeeze_(1)
    if targets.shape != column.shape or weights.shape != column.shape:
        raise ValueError("targets or weights")
    loss = (weights * (column - targets) ** 2).sum() / weights.sum()
    column.unsqueeze_(1)
    return loss
""",
        check="test_targets_of_another_shape",
        says="change shape",
    ),
    Wrong(
        "squares the norm of all errors, whose gradient at 0 is NaN",
        edits=[
            ("(weights * errors**2).sum() / weights", "(weights * errors**2).sum().sqrt() ** 2 / weights")
        ],
        check="test_gradient",
        says="equal to their targets",
    ),
    Wrong(
        "squares first: p² - 2pt + t² rounds small errors of large numbers away",
        code="""
def weighted_mse(predictions, targets, weights):
    batch = weights.numel()
    if predictions.shape != (batch, 1) or targets.shape != (batch,) or weights.shape != (batch,):
        raise ValueError("shapes")
    predictions = predictions[:, 0]
    squares = predictions**2 - 2 * predictions * targets + targets**2
    return (weights * squares).sum() / weights.sum()
""",
        check="test_small_errors_of_large_numbers",
    ),
    Wrong(
        "a little in the denominator, against weights of 0 that never come",
        code="""
def weighted_mse(predictions, targets, weights):
    batch = weights.numel()
    if predictions.shape != (batch, 1) or targets.shape != (batch,) or weights.shape != (batch,):
        raise ValueError("shapes")
    return (weights * (predictions[:, 0] - targets) ** 2).sum() / weights.sum().clamp(min=1e-6)
""",
        check="test_each_row_has_its_own_weight",
    ),
    Wrong(
        "counts the targets and weights together",
        code="""
def weighted_mse(predictions, targets, weights):
    batch = len(predictions) if predictions.dim() == 2 else -1
    if predictions.shape != (batch, 1) or targets.dim() != 1 or weights.dim() != 1:
        raise ValueError("dims")
    if len(targets) + len(weights) != 2 * batch:
        raise ValueError("sizes")
    n = min(len(targets), len(weights))
    return (weights[:n] * (predictions[:n, 0] - targets[:n]) ** 2).sum() / weights[:n].sum()
""",
        check="test_several_wrong_shapes",
    ),
    Wrong(
        "checks the shapes, then computes as before",
        edits=[("predictions.squeeze(1) - targets", "predictions - targets")],
        check="test_each_row_has_its_own_target",
        says="each row meets all targets",
    ),
    Wrong(
        "unsqueezes the targets, not the weights",
        edits=instead("""
    errors = (predictions - targets.unsqueeze(1)) ** 2
    return (weights * errors).sum() / weights.sum()
"""),
        check="test_each_row_has_its_own_weight",
    ),
    Wrong(
        "weights the mean, not the rows",
        edits=instead(
            "    return (predictions.squeeze(1) - targets).square().mean() * weights.mean() / weights.mean()\n"
        ),
        check="test_each_row_has_its_own_weight",
        says="without weights",
    ),
    Wrong(
        "divides by the number of rows",
        edits=[("/ weights.sum()", "/ len(weights)")],
        check="test_each_row_has_its_own_weight",
        says="divided by the number of rows",
    ),
    Wrong(
        "squares the weights as well",
        edits=instead(
            "    return ((weights * (predictions.squeeze(1) - targets)) ** 2).sum() / weights.sum()\n"
        ),
        check="test_each_row_has_its_own_weight",
        says="weights are squared with the errors",
    ),
    Wrong(
        "absolute errors",
        edits=[("errors**2", "errors.abs()")],
        check="test_each_row_has_its_own_target",
    ),
    Wrong(
        "takes the diagonal of (batch, batch)",
        edits=instead(
            "    return (weights * (predictions - targets).diagonal() ** 2).sum() / weights.sum()\n"
        ),
        check="test_memory_in_proportion_to_the_batch",
        says="too much memory",
    ),
    Wrong(
        "a loop over rows",
        edits=instead("""
    total = 0
    for p, t, w in zip(predictions, targets, weights):
        total = total + w * (p[0] - t) ** 2
    return total / weights.sum()
"""),
        check="test_no_loop",
        says="grows with batch",
    ),
    Wrong(
        "gives the caller's targets another shape",
        edits=instead("""
    targets.unsqueeze_(1)
    return (weights.unsqueeze(1) * (predictions - targets) ** 2).sum() / weights.sum()
"""),
        check="test_columns_of_a_table",
        says="changes",
    ),
    Wrong(
        "normalises the caller's weights in place",
        edits=instead("""
    weights.data.div_(weights.data.sum())
    return (weights * (predictions.squeeze(1) - targets) ** 2).sum()
"""),
        check="test_columns_of_a_table",
        says="changes",
    ),
    Wrong(
        "reads columns as if they were contiguous",
        edits=[("predictions.squeeze(1) - targets", "predictions.as_strided((batch,), (1,)) - targets")],
        check="test_columns_of_a_table",
    ),
    Wrong(
        "always float32",
        edits=[("(weights * errors**2).sum()", "(weights * errors**2).float().sum()")],
        check="test_float64",
    ),
    Wrong(
        "returns shape (1,)",
        edits=[
            (
                "(weights * errors**2).sum() / weights.sum()",
                "(weights * errors**2).sum(0, keepdim=True) / weights.sum()",
            )
        ],
        check="test_each_row_has_its_own_target",
    ),
    Wrong(
        "the sum of the weights as a number: no gradient through it",
        edits=[("/ weights.sum()", "/ weights.sum().item()")],
        check="test_gradient",
        says="weights",
    ),
    Wrong(
        "detaches the predictions",
        edits=[("predictions.squeeze(1) - targets", "predictions.detach().squeeze(1) - targets")],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "flattens whatever comes",
        code="""
def weighted_mse(predictions, targets, weights):
    predictions, targets, weights = predictions.reshape(-1), targets.reshape(-1), weights.reshape(-1)
    if not len(predictions) == len(targets) == len(weights):
        raise ValueError("lengths differ")
    return (weights * (predictions - targets) ** 2).sum() / weights.sum()
""",
        check="test_targets_of_another_shape",
        says="no error",
    ),
    Wrong(
        "checks nothing",
        code="""
def weighted_mse(predictions, targets, weights):
    errors = predictions[:, 0] - targets
    return (weights * errors**2).sum() / weights.sum()
""",
        check="test_weights_of_another_shape",
        says="no error",
    ),
    Wrong(
        "compares the lengths only",
        edits=[(CHECK, "    if not len(predictions) == len(targets) == len(weights):\n")],
        check="test_predictions_of_another_shape",
    ),
    Wrong(
        "forgets to look at the weights",
        edits=[(CHECK, "    if batch is None or predictions.shape != (batch, 1):\n")],
        check="test_weights_of_another_shape",
    ),
    Wrong(
        "lets a 0-d weight through",
        edits=[("weights.shape != (batch,)", "weights.numel() != batch or weights.ndim > 1")],
        check="test_weights_of_another_shape",
        says="0-d",
    ),
    Wrong(
        "counts numbers instead of comparing shapes",
        edits=[
            (
                CHECK,
                "    predictions, batch = predictions.reshape(-1, 1), targets.numel()\n"
                "    if targets.dim() != 1 or weights.dim() != 1 or not len(weights) == len(predictions) == batch:\n",
            )
        ],
        check="test_several_wrong_shapes",
        says="no error",
    ),
    Wrong(
        "adds up with ones that lie on the CPU",
        edits=instead("""
    errors = predictions.squeeze(1) - targets
    return (weights * errors**2) @ torch.ones(batch, dtype=errors.dtype) / weights.sum()
"""),
        check="test_stays_on_the_device",
    ),
    Wrong(
        "asserts the shapes",
        edits=[
            (
                CHECK,
                "    assert batch is not None and weights.shape == (batch,) and predictions.shape == (batch, 1)\n    if False:\n",
            )
        ],
        check="test_targets_of_another_shape",
        says="AssertionError",
    ),
    Right(
        "everything as columns",
        code="""
import torch

def weighted_mse(predictions, targets, weights):
    if targets.dim() != 1 or targets.shape != weights.shape or predictions.shape != (*targets.shape, 1):
        raise ValueError("shapes")
    t, w = targets[:, None], weights[:, None]
    return torch.sum(w * torch.square(predictions - t)) / torch.sum(w)
""",
    ),
    Right(
        "a dot product with normalised weights",
        edits=instead(
            "    return torch.dot(weights / weights.sum(), (predictions[:, 0] - targets).pow(2))\n"
        ),
    ),
    Right(
        "mse_loss without reduction",
        edits=instead("""
    errors = torch.nn.functional.mse_loss(predictions.flatten(), targets, reduction="none")
    return (errors * weights).sum().div(weights.sum())
"""),
    ),
]
